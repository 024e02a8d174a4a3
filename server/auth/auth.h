/*
 * auth.h: who calls. Turns the authorization metadata into an identity, by the stored tokens, and is
 * the only place where a text becomes a struct org_id. Plain SHA-256 is right for 256 random bits;
 * hashes and texts are compared in constant time, and an unknown key id costs the same as a wrong
 * secret. Belongs to the loop.
 *
 * The cache keeps the last texts that were right, by key id, and is stale as soon as any token
 * changed; an end by time is looked at on every call. Its texts are cleansed when it is freed.
 */
#ifndef ERRATA_SERVER_AUTH_AUTH_H
#define ERRATA_SERVER_AUTH_AUTH_H

#include "store/base/ctx.h"
#include "store/key.h"

/* Tokens in the cache: each its own place by key id. A server has tens of busy ones; 256 are 100 KB. */
#define AUTH_CACHE_ENTRIES 256
/* A user id is an opaque id: 1 to 128 bytes. */
#define AUTH_USER_ID_BYTES_MAX 128

struct auth;

/* What a token says. */
struct auth_identity {
    struct org_id org;
    uint32_t role; /* errata.v1.Role; not 0 */
    bool server;
    uint32_t key_id;
    int64_t expire_at_us; /* 0: never */
    struct slice user_id; /* borrowed from the cache until the next call of this module */
};

/* Why auth_check refused: for the log. Callers do not hear it. */
struct auth_refusal {
    const char *reason; /* a literal */
    bool has_key_id; /* the text has the form of a token */
    uint32_t key_id;
};

MUST_CHECK enum err auth_new(struct auth **ret_auth);
void auth_free(struct auth *auth);

/* The identity, if the cache knows the text: `version` is that of the TOKEN table. The clock is asked
 * only for a token that has an end. False: ask auth_check. */
bool auth_check_cached(struct auth *auth, struct slice authorization, uint64_t version,
                       const struct clock *clock, struct auth_identity *ret_identity);
/* The identity of `Bearer <token>` by the store. ERR_UNAUTHENTICATED with a message for whatever is
 * not a token in force; no caller can distinguish unknown, wrong, revoked and expired ones. */
MUST_CHECK enum err auth_check(struct auth *auth, struct ctx *ctx, struct store_txn *txn,
                               struct slice authorization, uint64_t version,
                               struct auth_identity *ret_identity);

/* Of the last auth_check that gave ERR_UNAUTHENTICATED. */
struct auth_refusal auth_last_refusal(const struct auth *auth);

/* The organisation that an AdminService request names: the caller's own where the text is empty or
 * names it; another one for a token with the `server` flag if it exists; else ERR_NOT_FOUND, with
 * one message for all. */
MUST_CHECK enum err auth_resolve_org(struct ctx *ctx, struct store_txn *txn, struct org_id own,
                                     bool server, struct slice org_id, struct org_id *ret_org);

#endif
