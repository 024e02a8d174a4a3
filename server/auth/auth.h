/*
 * auth.h: authenticates callers. Turns the authorization metadata into an identity, by the stored
 * tokens; no other code makes a struct org_id from a text. Plain SHA-256 is sufficient for 256
 * random bits; hashes and texts are compared in constant time, and an unknown key id costs the same
 * as a wrong secret. Used only on the loop.
 * The cache keeps the last valid texts, by key id, and is stale once any token or organisation changed;
 * expiry is checked on every call. Its texts are erased when it is freed, or their organisation was deleted.
 */
#ifndef ERRATA_SERVER_AUTH_AUTH_H
#define ERRATA_SERVER_AUTH_AUTH_H

#include "store/base/ctx.h"
#include "store/key.h"

/* Tokens in the cache, at most one per slot. A server has tens of busy ones; 256 are 100 KB. */
#define AUTH_CACHE_ENTRIES 256
/* Tokens that lost their place in the cache and whose use is remembered: two that share a place take it from each other. */
#define AUTH_LOST_MAX 256
#define AUTH_USES_MAX (AUTH_CACHE_ENTRIES + AUTH_LOST_MAX)
/* A user id is an opaque id: 1 to 128 bytes. */
#define AUTH_USER_ID_BYTES_MAX 128

struct auth;
struct quota_book;
struct writer; /* store/work.h */

/* The identity that a token proves. */
struct auth_identity {
    struct org_id org;
    uint32_t role; /* an errata.v1.Role; not 0 */
    bool server;
    uint32_t key_id;
    int64_t expire_at_us; /* 0: never expires */
    struct slice user_id; /* borrowed from the cache until the next call of this module */
};

/* Why auth_check refused, for the log. Not sent to callers. */
struct auth_refusal {
    const char *reason; /* a literal */
    bool has_key_id; /* the text has a token's form */
    uint32_t key_id;
};

MUST_CHECK enum err auth_new(struct auth **ret_auth);
void auth_free(struct auth *auth);

/* Returns a number that changes whenever tokens or organisations do: identities found before are stale. Any thread. */
uint64_t auth_version(const struct writer *writer);
/* Returns the identity if the cache has the text: `version` is auth_version. Reads the clock only if the token expires. False: call auth_check. */
bool auth_check_cached(struct auth *auth, struct slice authorization, uint64_t version,
                       const struct clock *clock, struct auth_identity *ret_identity);
/* Returns the identity of `Bearer <token>` from the store. ERR_UNAUTHENTICATED, with a message, for
 * anything but a valid token; a caller cannot distinguish unknown, wrong, revoked and expired
 * ones. ERR_ORGANIZATION_SUSPENDED, with a message, for a valid one
 * of a suspended organisation. */
MUST_CHECK enum err auth_check(struct auth *auth, struct ctx *ctx, struct store_txn *txn,
                               struct slice authorization, uint64_t version,
                               struct auth_identity *ret_identity);

/* Returns the key ids of the tokens that were used since the last call, and not on this day before. Tokens that lost their
 * place in the cache are among them, the last AUTH_LOST_MAX of these. */
size_t auth_take_uses(struct auth *auth, uint64_t day, uint32_t key_ids[AUTH_USES_MAX]);
/* Lets the next auth_take_uses return again what the last one did, since it could not be stored. */
void auth_repeat_uses(struct auth *auth);

/* Erases what the cache has of the tokens of an organisation that was deleted. */
void auth_forget(struct auth *auth, struct org_id org);

/* Returns what callers have used of their quotas (quota_book.h); owned by `auth`. */
struct quota_book *auth_quota_book(struct auth *auth);

/* Returns the reason of the last refusal of auth_check. */
struct auth_refusal auth_last_refusal(const struct auth *auth);

/* Resolves the organisation that an AdminService request names: the caller's own if the text is
 * empty or names it; another one if it exists and the token has the `server` flag; else
 * ERR_NOT_FOUND, with the same message in both cases. ERR_PRECONDITION for one that is being deleted. */
MUST_CHECK enum err auth_resolve_org(struct ctx *ctx, struct store_txn *txn, struct org_id own,
                                     bool server, struct slice org_id, struct org_id *ret_org);
/* Does the same, and also finds organisations that are being deleted. */
MUST_CHECK enum err auth_resolve_any_org(struct ctx *ctx, struct store_txn *txn, struct org_id own,
                                         bool server, struct slice org_id, struct org_id *ret_org);
/* Finds the organisation that the configuration names, for a component that stores in it without a call.
 * ERR_NOT_FOUND, ERR_ORGANIZATION_SUSPENDED, or ERR_QUOTA if it stores as much as it may. */
MUST_CHECK enum err auth_find_org(struct store_txn *txn, struct slice name, struct org_id *ret_org);

#endif
