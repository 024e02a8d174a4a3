/*
 * values.h: the meaning of value names in usage: the words of the contract's enums, and a few other
 * lists. Used by help, completion and requests.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_VALUES_H
#define ERRATA_TOOLS_ERRATA_ENGINE_VALUES_H

#include "tools/errata/cli.h"

/* See struct command_set's `word`. */
bool values_word(struct slice name, size_t index, struct command_word *ret_word);
/* Finds the enum word that is given: in any case, with dashes for underscores, in its short or full
 * form, or by a unique ending (LINE_CORRECTED). The values of other options are returned as they
 * are. */
MUST_CHECK enum cli_exit values_read(struct cli *cli, const char *option, const char *given,
                                     struct slice *ret_word);

#endif
