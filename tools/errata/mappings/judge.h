/*
 * judge.h: `errata mappings confirm --file`: confirmations, rejections and suggestions of a CSV file in one call, all or none.
 */
#ifndef ERRATA_TOOLS_ERRATA_MAPPINGS_JUDGE_H
#define ERRATA_TOOLS_ERRATA_MAPPINGS_JUDGE_H

#include "tools/errata/engine/request.h"

/* Adds `judgements`, one for each row of the file of --file. */
MUST_CHECK enum cli_exit judge_fill(struct request *request, struct cli *cli);
/* Prints the mappings' ids, one per line, in the order of the rows. */
MUST_CHECK enum cli_exit judge_print(struct cli *cli, struct json_value reply);

#endif
