/*
 * outputs.h: outputs of models, by the id of the run, document or span, so that a correction in one file finds
 * its value before in another file, in any order. Memory holds 48 bytes for each output; the outputs themselves
 * are in a temporary file, which has no name and ends with the program.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_OUTPUTS_H
#define ERRATA_TOOLS_ERRATA_IMPORT_OUTPUTS_H

#include "tools/errata/import/source.h"

/* Maximum number of outputs: more than a hundred files of 1 GB have, in at most 3 GiB of memory. */
#define OUTPUTS_COUNT_MAX ((size_t)64 * 1024 * 1024)

struct outputs;

/* Opens the table. Returns ERR_MEMORY, or ERR_IO if no temporary file can be made. */
MUST_CHECK enum err outputs_open(struct outputs **ret_outputs);
/* Keeps an output. Of several with the same id, the first by origin is kept, then the newest by time (of roots the
 * oldest), then the longest, then the greatest by bytes, so that the order of the files does not matter. */
MUST_CHECK enum err outputs_add(struct outputs *outputs, struct arena *arena,
                                const struct import_row *row);
/* Completes a row by the output that it is about: before, name and input, if it lacks them. Sets whether the
 * output is known. */
MUST_CHECK enum err outputs_join(struct outputs *outputs, struct arena *arena,
                                 struct import_row *row, bool *ret_found);
/* Closes the table; accepts NULL. */
void outputs_close(struct outputs *outputs);

#endif
