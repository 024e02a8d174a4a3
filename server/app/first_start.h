/*
 * first_start.h: what a new store is given: the organisation `default` and an administrator's token
 * with the `server` flag, whose text stands in DIR/admin.token.
 */
#ifndef ERRATA_SERVER_APP_FIRST_START_H
#define ERRATA_SERVER_APP_FIRST_START_H

#include "store/backend.h"
#include "store/base/ctx.h"

#define FIRST_START_TOKEN_FILE "admin.token"

/* Does nothing where the store has an organisation. Else both are made in one transaction, and the
 * file is durable before that is committed: a crash between the two leaves an empty store, which the
 * next start treats as new, and a token that was never valid, which it replaces. So no crash leaves
 * a server that nobody can enter. Writes to the store: before the writer starts. */
MUST_CHECK enum err first_start(struct ctx *ctx, struct store_backend *backend, const char *folder,
                                bool *ret_made);

#endif
