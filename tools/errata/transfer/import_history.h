/*
 * import_history.h: `errata import`: reads the exports of another tool, and stores people's
 * corrections and judgements.
 */
#ifndef ERRATA_TOOLS_ERRATA_TRANSFER_IMPORT_HISTORY_H
#define ERRATA_TOOLS_ERRATA_TRANSFER_IMPORT_HISTORY_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit import_history_run(struct cli *cli);

#endif
