/*
 * first_token.h: creates the organisation `default` and an administrator's token with the `server`
 * flag in a new store, and another such token for a store whose first one was lost. The caller
 * decides where the token's text is kept.
 */
#ifndef ERRATA_SERVER_AUTH_FIRST_TOKEN_H
#define ERRATA_SERVER_AUTH_FIRST_TOKEN_H

#include "store/backend.h"
#include "store/base/ctx.h"

/* Stores the token's text durably before it returns OK. */
typedef enum err first_token_keep_fn(void *user, struct slice text);

/* Does nothing if the store has an organisation. Otherwise both are created in one transaction, which
 * is committed only after `keep` has returned OK: a crash between the two leaves an empty store,
 * which the next start treats as new, and a kept text that was never valid, which it replaces. So
 * no crash leaves a server without a usable token. It writes to the store, so it must be called
 * before the writer starts. */
MUST_CHECK enum err first_token_make(struct ctx *ctx, struct store_backend *backend,
                                     first_token_keep_fn *keep, void *user, bool *ret_made);

/* Adds another such token for the organisation `default`, in a store that no writer uses. Commits
 * only after `keep` has returned OK, so a failure may leave a kept text that was never valid.
 * ERR_PRECONDITION, with a fault, if that organisation does not exist. */
MUST_CHECK enum err first_token_add(struct ctx *ctx, struct store_backend *backend,
                                    first_token_keep_fn *keep, void *user, uint32_t *ret_key_id);

#endif
