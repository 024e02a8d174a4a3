/*
 * corrections.h: what the commands of `errata corrections` share.
 */
#ifndef ERRATA_TOOLS_ERRATA_CORRECTIONS_CORRECTIONS_H
#define ERRATA_TOOLS_ERRATA_CORRECTIONS_CORRECTIONS_H

#include "store/base/json.h"
#include "tools/errata/engine/request.h"

/* Leaves events of mappings out of a list, unless they are asked for: `errata mappings` shows mappings. */
MUST_CHECK enum cli_exit corrections_fill_list(struct request *request, struct cli *cli);
/* Prints the changed members of an event, each with its value before and after. */
void corrections_print_diff(struct cli *cli, struct json_value event);
/* Runs `errata corrections review`. */
MUST_CHECK enum cli_exit review_run(struct cli *cli);

#endif
