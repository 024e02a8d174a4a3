/*
 * corrections.h: functions shared by the commands of `errata corrections`.
 */
#ifndef ERRATA_TOOLS_ERRATA_CORRECTIONS_CORRECTIONS_H
#define ERRATA_TOOLS_ERRATA_CORRECTIONS_CORRECTIONS_H

#include "store/base/json.h"
#include "tools/errata/engine/request.h"

/* Excludes mapping events from a list unless they are requested, since `errata mappings` shows
 * mappings. */
MUST_CHECK enum cli_exit corrections_fill_list(struct request *request, struct cli *cli);
/* Prints the changed members of an event, each with its value before and after. */
void corrections_print_diff(struct cli *cli, struct json_value event);
/* Runs `errata corrections review`. */
MUST_CHECK enum cli_exit review_run(struct cli *cli);

#endif
