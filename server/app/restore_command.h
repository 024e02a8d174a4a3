/*
 * restore_command.h: `erratad --restore FILE --data DIR`: a data folder made from a backup
 * (store/lmdb/lmdb_restore.h), for a person who waits for it: how far it is goes to standard error, and the
 * last line says what came of it.
 */
#ifndef ERRATA_SERVER_APP_RESTORE_COMMAND_H
#define ERRATA_SERVER_APP_RESTORE_COMMAND_H

#include "server/app/config.h"

/* Progress is shown this often. */
#define RESTORE_PROGRESS_US 1000000

/* Returns the exit status (app.h). */
int restore_command_run(const struct config *config);

#endif
