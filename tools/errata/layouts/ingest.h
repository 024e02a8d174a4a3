/*
 * ingest.h: `errata layouts ingest`: sends PDFs to the server, with progress and a table of the
 * results.
 */
#ifndef ERRATA_TOOLS_ERRATA_LAYOUTS_INGEST_H
#define ERRATA_TOOLS_ERRATA_LAYOUTS_INGEST_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit ingest_run(struct cli *cli);

#endif
