/*
 * restore_command.h: `erratad --restore FILE --data DIR`: creates a data folder from a backup
 * (store/lmdb/lmdb_restore.h), for interactive use: prints progress to standard error, and the
 * result as the last line.
 */
#ifndef ERRATA_SERVER_APP_RESTORE_COMMAND_H
#define ERRATA_SERVER_APP_RESTORE_COMMAND_H

#include "server/app/config.h"

/* Interval of progress output. */
#define RESTORE_PROGRESS_US 1000000

/* Returns the exit status (app.h). */
int restore_command_run(const struct config *config);

#endif
