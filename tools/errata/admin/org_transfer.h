/*
 * org_transfer.h: `errata org export` and `errata org import`: an organisation as a file of JSON lines. Each line is an
 * ExportLine of the contract; tools/EXPORT.md describes the file.
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_ORG_TRANSFER_H
#define ERRATA_TOOLS_ERRATA_ADMIN_ORG_TRANSFER_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit org_export_run(struct cli *cli);
MUST_CHECK enum cli_exit org_import_run(struct cli *cli);

#endif
