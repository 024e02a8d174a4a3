/*
 * rebuild_command.h: `erratad --rebuild --data DIR`: rebuilds the tables from the log (rebuild.h),
 * for interactive use: prints progress to standard error, and the result as the last line.
 */
#ifndef ERRATA_SERVER_APP_REBUILD_COMMAND_H
#define ERRATA_SERVER_APP_REBUILD_COMMAND_H

#include "server/app/config.h"

/* Interval of progress output. */
#define REBUILD_PROGRESS_US 1000000

/* Returns the exit status (app.h). */
int rebuild_command_run(const struct config *config);

#endif
