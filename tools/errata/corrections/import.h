/*
 * import.h: `errata corrections import`: imports a file of events, one JSON object per line, in
 * batches.
 */
#ifndef ERRATA_TOOLS_ERRATA_CORRECTIONS_IMPORT_H
#define ERRATA_TOOLS_ERRATA_CORRECTIONS_IMPORT_H

#include "tools/errata/cli.h"

/* Maximum events of a batch (the contract's limit), and its bytes: half of the maximum size of a
 * request. */
#define IMPORT_BATCH_EVENTS_MAX 1000
#define IMPORT_BATCH_BYTES_MAX ((size_t)8 * 1024 * 1024)

MUST_CHECK enum cli_exit import_run(struct cli *cli);

#endif
