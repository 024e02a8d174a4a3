/*
 * import_history.h: `errata import`: reads the exports of another tool, and stores what people corrected and
 * judged there.
 */
#ifndef ERRATA_TOOLS_ERRATA_TRANSFER_IMPORT_HISTORY_H
#define ERRATA_TOOLS_ERRATA_TRANSFER_IMPORT_HISTORY_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit import_history_run(struct cli *cli);

#endif
