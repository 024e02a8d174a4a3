/*
 * new_token_command.h: `erratad --new-admin-token --data DIR`: creates another ADMIN token with the
 * server flag, if none is usable any more. Interactive; no server may run.
 *   1. the token's text is durable as DIR/admin.token.new
 *   2. its event is committed to the log of the organisation `default`
 *   3. the file is renamed to DIR/admin.token
 * Interrupted before 2, nothing has changed; between 2 and 3 the token is valid, and its text is in
 * DIR/admin.token.new until the command runs again. Old tokens stay valid.
 */
#ifndef ERRATA_SERVER_APP_NEW_TOKEN_COMMAND_H
#define ERRATA_SERVER_APP_NEW_TOKEN_COMMAND_H

#include "server/app/config.h"

/* Returns the exit status (app.h). */
int new_token_command_run(const struct config *config);

#endif
