/*
 * rebuild_command.h: `erratad --rebuild --data DIR`: the tables rebuilt from the log (rebuild.h),
 * for a person who waits for it: what it does and how far it is goes to standard error, and the
 * last line says what came of it.
 */
#ifndef ERRATA_SERVER_APP_REBUILD_COMMAND_H
#define ERRATA_SERVER_APP_REBUILD_COMMAND_H

#include "server/app/config.h"

/* Progress is told this often. */
#define REBUILD_TELL_US 1000000

/* Returns the exit status (app.h). */
int rebuild_command_run(const struct config *config);

#endif
