/*
 * export_history.h: `errata export`: writes corrections in a form that other tools read.
 */
#ifndef ERRATA_TOOLS_ERRATA_TRANSFER_EXPORT_HISTORY_H
#define ERRATA_TOOLS_ERRATA_TRANSFER_EXPORT_HISTORY_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit export_history_run(struct cli *cli);

#endif
