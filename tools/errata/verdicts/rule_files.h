/*
 * rule_files.h: `errata rules export` and `errata rules import`: learned rules as a JSON document.
 */
#ifndef ERRATA_TOOLS_ERRATA_VERDICTS_RULE_FILES_H
#define ERRATA_TOOLS_ERRATA_VERDICTS_RULE_FILES_H

#include "store/base/json.h"
#include "tools/errata/engine/request.h"

MUST_CHECK enum cli_exit rule_export_run(struct cli *cli);
/* Adds the document of the command line to an ImportLearnedRules. */
MUST_CHECK enum cli_exit rule_import_fill(struct request *request, struct cli *cli);
/* Prints the changes, and their numbers as a note. */
MUST_CHECK enum cli_exit rule_import_print(struct cli *cli, struct json_value reply);

#endif
