/*
 * found_rules.h: `errata rules find`: rules that the server finds in stored submissions.
 */
#ifndef ERRATA_TOOLS_ERRATA_VERDICTS_FOUND_RULES_H
#define ERRATA_TOOLS_ERRATA_VERDICTS_FOUND_RULES_H

#include "store/base/json.h"
#include "tools/errata/cli.h"

/* Prints the rules with their counts, and whether they are stored as a note. */
MUST_CHECK enum cli_exit found_rules_print(struct cli *cli, struct json_value reply);

#endif
