/*
 * new_token_command.h: `erratad --new-admin-token --data DIR`: another ADMIN token with the server flag,
 * for who has none that is usable any more. For a person who waits for it, while no server runs.
 *
 *   1. the token's text is durable as DIR/admin.token.new
 *   2. its event is committed to the log of the organisation `default`
 *   3. the text takes the place of DIR/admin.token
 *
 * Cut off before 2, everything is as it was; between 2 and 3 the token is valid, and its text is in
 * DIR/admin.token.new, until the command runs again. The old tokens stay valid.
 */
#ifndef ERRATA_SERVER_APP_NEW_TOKEN_COMMAND_H
#define ERRATA_SERVER_APP_NEW_TOKEN_COMMAND_H

#include "server/app/config.h"

/* Returns the exit status (app.h). */
int new_token_command_run(const struct config *config);

#endif
