/*
 * backup.h: `errata admin backup`: downloads the server's store as one file, and verifies it.
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_BACKUP_H
#define ERRATA_TOOLS_ERRATA_ADMIN_BACKUP_H

#include "tools/errata/cli.h"

MUST_CHECK enum cli_exit backup_run(struct cli *cli);

#endif
