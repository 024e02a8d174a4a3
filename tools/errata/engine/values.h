/*
 * values.h: what the names of values in usage stand for: the words of the contract's enums, and a few
 * of our own. Help, completion and requests use the same.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_VALUES_H
#define ERRATA_TOOLS_ERRATA_ENGINE_VALUES_H

#include "tools/errata/cli.h"

/* See struct command_set's `word`. */
bool values_word(struct slice name, size_t index, struct command_word *ret_word);
/* The word that was meant, where the option's value is one of several words: whatever its case, with
 * dashes for underscores, in short or in full, or by an end that no other has (LINE_CORRECTED). Other
 * options' values are given back as they are. */
MUST_CHECK enum cli_exit values_read(struct cli *cli, const char *option, const char *given,
                                     struct slice *ret_word);

#endif
