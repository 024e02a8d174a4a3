/*
 * outputs.h: what models put out, by the id of the run, document or span, so that a correction in one file finds
 * its before in another one, in any order. Memory holds 48 bytes for each output; the outputs themselves are in a
 * temporary file, which has no name and ends with the program.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_OUTPUTS_H
#define ERRATA_TOOLS_ERRATA_IMPORT_OUTPUTS_H

#include "tools/errata/import/source.h"

/* More than a hundred files of 1 GB have; 3 GiB of memory at most. */
#define OUTPUTS_COUNT_MAX ((size_t)64 * 1024 * 1024)

struct outputs;

/* ERR_MEMORY, or ERR_IO if no temporary file can be made. */
MUST_CHECK enum err outputs_open(struct outputs **ret_outputs);
/* Keeps an output. Of several with the same id the newest by time stays, then the one with more bytes, then the
 * greater one, so that the order of the files does not matter. */
MUST_CHECK enum err outputs_add(struct outputs *outputs, struct arena *arena,
                                const struct import_row *row);
/* Completes a row by the output that it is about: before, name and input, if it lacks them. Sets whether the
 * output is known. */
MUST_CHECK enum err outputs_join(struct outputs *outputs, struct arena *arena,
                                 struct import_row *row, bool *ret_found);
/* Takes NULL. */
void outputs_close(struct outputs *outputs);

#endif
