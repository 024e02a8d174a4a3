/*
 * weights.h: `errata rules suggest` and `errata rules apply`: the weights that measured verdicts suggest.
 */
#ifndef ERRATA_TOOLS_ERRATA_VERDICTS_WEIGHTS_H
#define ERRATA_TOOLS_ERRATA_VERDICTS_WEIGHTS_H

#include "store/base/json.h"
#include "tools/errata/engine/request.h"

/* Adds the chosen rules of the command line to an ApplySuggestedWeights. */
MUST_CHECK enum cli_exit weights_fill(struct request *request, struct cli *cli);
/* Prints the changes, and whether they are stored as a note. */
MUST_CHECK enum cli_exit weights_print(struct cli *cli, struct json_value reply);

#endif
