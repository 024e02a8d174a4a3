/*
 * admin.h: organisations and tokens, as events: decides, applies and reads them. No RPC; of secrets
 * only their hashes. An organisation's first event is its own creation; a token's creation and
 * revocation are in the log of the organisation that it belongs to. Rows that belong to no
 * organisation (the list of organisations, tokens by key id) are stored under the zero
 * organisation.
 *
 * Facts: OrganizationCreated and TokenRevoked are stored as they are returned. TokenCreated is
 * stored inside a message of our own beside the secret's hash, so that the response can be sent
 * without the hash.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_ADMIN_H
#define ERRATA_SERVER_DOMAIN_ADMIN_ADMIN_H

#include "server/domain/admin/records.h"
#include "store/id_prefix.h"
#include "store/log.h"
#include "store/work.h"

/* Hex digits of a key id in text. */
#define ADMIN_KEY_ID_TEXT_BYTES 8
/* Maximum attempts to draw an unused key id: with a million tokens each draw collides with
 * probability 2^-12. */
#define ADMIN_KEY_ID_DRAWS_MAX 16

/* The caller: used for the envelope of events, and to check rights that concern the whole
 * server. */
struct admin_actor {
    struct slice user_id;
    enum annotator annotator;
    enum log_source source;
    bool server; /* a token with the server flag, or the program itself */
};

struct admin_token_draft {
    struct org_id org;
    uint32_t role; /* an errata.v1.Role; not 0 */
    bool server;
    struct slice user_id; /* user, or empty */
    int64_t expire_at_us; /* 0: never expires */
    struct sha256_digest secret_sha256;
};

/* Appends the first event of a new organisation's log. ERR_DENIED without the server flag,
 * ERR_EXISTS if the name is taken. */
MUST_CHECK enum err admin_create_organization(struct ctx *ctx, struct store_txn *txn,
                                              const struct admin_actor *actor, struct slice name,
                                              struct work_result *ret_result);
/* Adds a fault to ctx->fault for a token that is always invalid: an OPERATOR or REVIEWER without a
 * user. For callers that report it together with other faults; admin_create_token checks it too. */
void admin_check_token(struct ctx *ctx, const struct admin_token_draft *draft);
/* Chooses a free key id and appends. ERR_INVALID for a token that admin_check_token refuses, or an
 * expiry that is not in the future; ERR_DENIED for a server flag from an actor without it. */
MUST_CHECK enum err admin_create_token(struct ctx *ctx, struct store_txn *txn,
                                       const struct admin_actor *actor,
                                       const struct admin_token_draft *draft,
                                       struct work_result *ret_result);
/* Appends the revocation; a token that is already revoked appends nothing (a count of 0).
 * ERR_NOT_FOUND if the organisation has no such token; ERR_PRECONDITION for the last token that can
 * administer the server. */
MUST_CHECK enum err admin_revoke_token(struct ctx *ctx, struct store_txn *txn,
                                       const struct admin_actor *actor, struct org_id org,
                                       uint32_t key_id, struct work_result *ret_result);
struct admin_rotation {
    struct org_id org;
    uint32_t key_id; /* the token to replace */
    int64_t overlap_us; /* how long it is still valid; 0: it ends at once */
    struct sha256_digest secret_sha256; /* secret of the new token, hashed */
};

/* Maximum and default overlap: a new secret is distributed within days, and an old one that is valid for longer is
 * forgotten. */
#define ADMIN_OVERLAP_US_MAX (30 * INT64_C(86400) * 1000000)
#define ADMIN_OVERLAP_US_DEFAULT (INT64_C(86400) * 1000000)

/* Appends two events: the creation of a token with the old one's role, user and flag, and the
 * rotation, which ends the old one after the overlap, or earlier if it expires earlier. If the old
 * one expires, the new one is valid for as long as that one was at its creation. ERR_NOT_FOUND if
 * the organisation has no such token; ERR_DENIED for one with the server flag and an actor without
 * it; ERR_PRECONDITION for one that is revoked, expired, or already replaced. */
MUST_CHECK enum err admin_rotate_token(struct ctx *ctx, struct store_txn *txn,
                                       const struct admin_actor *actor,
                                       const struct admin_rotation *rotation,
                                       struct work_result *ret_result);
/* Returns whether a token is an ADMIN token with the server flag that is usable: not revoked, not
 * expired at `now_us` (wall clock). */
bool admin_token_rules_server(const struct token_record *token, int64_t now_us);
/* The time until which some token can administer the whole server. */
struct admin_server_access {
    int64_t
        until_us; /* the latest expiry of such a token; INT64_MAX: one does not expire; 0: there is
                   * no such token */
    uint32_t key_id; /* key id of that token, unless until_us is 0 */
};
/* Maximum number of tokens scanned; takes 0.3 s. With more tokens, one beyond the limit may be
 * missed; then the last one that was found cannot be revoked. */
#define ADMIN_TOKENS_SCANNED_MAX 1000000
/* Scans the first `tokens_max` tokens of all organisations, except the one with `except_key_id`
 * (NULL: none). Stops at the first token that does not expire. */
MUST_CHECK enum err admin_read_server_access(struct store_txn *txn, int64_t now_us,
                                             const uint32_t *except_key_id, uint32_t tokens_max,
                                             struct admin_server_access *ret_access);

/* Warning time before the expiry of a token. A token that was created for no longer than this causes no warning. */
#define ADMIN_EXPIRY_WARN_US (14 * INT64_C(86400) * 1000000)
/* The expiring tokens of all organisations: those that end within the warning time and are not revoked, not expired, not
 * replaced by a rotation, and made for longer than the warning time. */
struct admin_token_expiry {
    uint64_t count;
    int64_t first_at_us; /* when the first of them ends; 0 if count is 0 */
    uint32_t key_id; /* key id of that token */
    int64_t read_at_us; /* time for which this result was computed */
    int64_t
        changes_at_us; /* time from which the result differs; INT64_MAX: only if a token changes */
};
/* Scans the first `tokens_max` tokens of all organisations; of more tokens, some may be missed. */
MUST_CHECK enum err admin_read_token_expiry(struct store_txn *txn, int64_t now_us,
                                            uint32_t tokens_max,
                                            struct admin_token_expiry *ret_expiry);

/* Returns the part of a TOKEN_CREATED event's facts that responses may contain: TokenCreated's wire
 * bytes. */
MUST_CHECK enum err admin_public_facts(const struct event *event, struct slice *ret_public);
/* Returns the key id that a TOKEN_CREATED event assigned. */
MUST_CHECK enum err admin_created_key_id(const struct event *event, uint32_t *ret_key_id);

/* Read rows; their slices are borrowed from the transaction. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err admin_read_organization(struct store_txn *txn, struct uuid id,
                                            struct organization_record *ret_organization);
/* Finds an organisation by its name. ERR_NOT_FOUND. */
MUST_CHECK enum err admin_find_organization(struct store_txn *txn, struct slice name,
                                            struct uuid *ret_id);
MUST_CHECK enum err admin_read_token(struct store_txn *txn, uint32_t key_id,
                                     struct token_record *ret_token);
/* Reads a token of an organisation. ERR_NOT_FOUND, with a fault, for any other key id. */
MUST_CHECK enum err admin_find_token(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     uint32_t key_id, struct token_record *ret_token);
/* Lists: all organisations by id, and an organisation's tokens by key id, whose ids have the prefix. _next returns rows that are borrowed
 * from the transaction, and ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err admin_organization_list_begin(struct store_txn *txn,
                                                  const struct id_prefix *prefix,
                                                  struct page *page);
MUST_CHECK enum err admin_organization_list_next(const struct id_prefix *prefix, struct page *page,
                                                 struct organization_record *ret_organization);
MUST_CHECK enum err admin_token_list_begin(struct store_txn *txn, struct org_id org,
                                           const struct id_prefix *prefix, struct page *page);
MUST_CHECK enum err admin_token_list_next(struct store_txn *txn, const struct id_prefix *prefix,
                                          struct page *page, uint32_t *ret_key_id,
                                          struct token_record *ret_token);

/* Returns whether the store has an organisation. Reads one row. */
MUST_CHECK enum err admin_has_organization(struct store_txn *txn, bool *ret_has);

void admin_format_key_id(uint32_t key_id, char text[ADMIN_KEY_ID_TEXT_BYTES]);
/* Eight lower-case hex digits. */
bool admin_parse_key_id(struct slice text, uint32_t *ret_key_id);

#endif
