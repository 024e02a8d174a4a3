/*
 * match.h: `errata mappings match` and `record`: matches the lines of a draft to internal SKUs, and
 * counts the applied mappings as used.
 */
#ifndef ERRATA_TOOLS_ERRATA_MAPPINGS_MATCH_H
#define ERRATA_TOOLS_ERRATA_MAPPINGS_MATCH_H

#include "tools/errata/cli.h"

/* Maximum lines of one call, by the contract. More lines are sent in several calls. */
#define MATCH_LINES_MAX 1000

extern const struct option_spec match_options[];
extern const struct option_spec record_options[];

MUST_CHECK enum cli_exit match_run(struct cli *cli);
MUST_CHECK enum cli_exit match_record_run(struct cli *cli);

#endif
