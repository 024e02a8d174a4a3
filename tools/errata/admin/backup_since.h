/*
 * backup_since.h: reads the position from the end of a backup (store/FORMAT.md, Backups).
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_BACKUP_SINCE_H
#define ERRATA_TOOLS_ERRATA_ADMIN_BACKUP_SINCE_H

#include "tools/errata/cli.h"

/* Returns the position that an increment after the file begins with, in the CLI's arena. The whole file is not read. */
MUST_CHECK enum cli_exit backup_since_read(struct cli *cli, const char *path,
                                           struct slice *ret_position);

#endif
