/*
 * backtest.h: `errata rules backtest`: runs a rule over the stored submissions.
 */
#ifndef ERRATA_TOOLS_ERRATA_VERDICTS_BACKTEST_H
#define ERRATA_TOOLS_ERRATA_VERDICTS_BACKTEST_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit backtest_run(struct cli *cli);

#endif
