/*
 * rule_files.h: `errata rules export`: learned rules as a JSON document.
 */
#ifndef ERRATA_TOOLS_ERRATA_VERDICTS_RULE_FILES_H
#define ERRATA_TOOLS_ERRATA_VERDICTS_RULE_FILES_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit rule_export_run(struct cli *cli);

#endif
