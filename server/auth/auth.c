/*
 * auth.c: checks tokens against the store, with a cache in front.
 */
#include "server/auth/auth.h"

#include "server/auth/quota_book.h"
#include "server/auth/token.h"
#include "server/domain/admin/organization_state.h"
#include "server/domain/admin/records.h"
#include "server/domain/quotas/quotas.h"

#include "store/log_deletion.h"
#include "store/log_import.h"
#include "store/work.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#define SCHEME_BYTES (sizeof("Bearer") - 1)
/* Reads the digits of the key id in a token's text as one word. */
#define KEY_ID_AT (sizeof("errata_") - 1)
_Static_assert(ADMIN_KEY_ID_TEXT_BYTES == sizeof(uint64_t), "a key id's digits are one word");
/* The upper bits of a product with this odd factor distribute the digits well (Knuth, The Art of
 * Computer Programming 3, 6.4). */
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define HASH_SHIFT 56
_Static_assert(AUTH_CACHE_ENTRIES == 1u << (64 - HASH_SHIFT), "a hash is an entry's index");

/* What is known of the use of a token. */
struct use {
    uint32_t key_id;
    bool was_called; /* used since the last auth_take_uses */
    bool was_taken; /* returned by the last auth_take_uses */
    uint64_t taken_day; /* last day of which auth_take_uses returned it; 0: none */
};

/* A valid token. */
struct entry {
    bool used;
    uint64_t version; /* auth_version at the lookup */
    int64_t expire_at_us; /* 0: never expires */
    char text[TOKEN_TEXT_BYTES];
    struct org_id org;
    uint32_t role;
    bool server;
    struct use use; /* has the token's key id */
    uint8_t user_id_bytes;
    uint8_t user_id[AUTH_USER_ID_BYTES_MAX];
};

struct auth {
    struct entry entries[AUTH_CACHE_ENTRIES];
    struct use lost
        [AUTH_LOST_MAX]; /* of tokens that lost their place to another, or of none (all zeros) */
    size_t lost_next; /* the place in it that is used next */
    struct auth_refusal refusal; /* the last one */
    struct quota_book *quotas;
};

uint64_t auth_version(const struct writer *writer)
{
    return writer_table_version(writer, TABLE_TOKEN) +
           writer_table_version(writer, TABLE_ORGANIZATION);
}

enum err auth_new(struct auth **ret_auth)
{
    struct auth *auth = calloc(1, sizeof(*auth));
    enum err err = auth == NULL ? ERR_MEMORY : quota_book_new(&auth->quotas);

    if (err != OK) {
        auth_free(auth);
        return err;
    }
    *ret_auth = auth;
    return OK;
}

void auth_free(struct auth *auth)
{
    if (auth != NULL) {
        quota_book_free(auth->quotas);
        OPENSSL_cleanse(auth, sizeof(*auth));
        free(auth);
    }
}

/* Compares with `Bearer`, ignoring case (RFC 9110, 11.1). */
static bool is_bearer(const uint8_t *text)
{
    static const char scheme[] = "bearer";

    if (memcmp(text, "Bearer", SCHEME_BYTES) == 0) {
        return true;
    }
    for (size_t i = 0; i < SCHEME_BYTES; i++) {
        uint8_t byte = text[i];

        if (byte >= 'A' && byte <= 'Z') {
            byte = (uint8_t)(byte + ('a' - 'A'));
        }
        if (byte != (uint8_t)scheme[i]) {
            return false;
        }
    }
    return true;
}

/* Returns the token after the scheme and one or more spaces (RFC 9110, 11.4). */
static bool strip_scheme(struct slice authorization, struct slice *ret_token)
{
    size_t spaces = 0;

    if (authorization.size <= SCHEME_BYTES + TOKEN_TEXT_BYTES || !is_bearer(authorization.data)) {
        return false;
    }
    spaces = authorization.size - SCHEME_BYTES - TOKEN_TEXT_BYTES;
    for (size_t i = 0; i < spaces; i++) {
        if (authorization.data[SCHEME_BYTES + i] != ' ') {
            return false;
        }
    }
    *ret_token = slice_after(authorization, SCHEME_BYTES + spaces);
    return true;
}

/* Returns the cache entry of a token's text, by its key id, which need not be well-formed. */
static struct entry *entry_of(struct auth *auth, struct slice token)
{
    uint64_t digits = 0;

    memcpy(&digits, token.data + KEY_ID_AT, sizeof(digits));
    return &auth->entries[(digits * HASH_FACTOR) >> HASH_SHIFT];
}

static void identity_of(const struct entry *entry, struct auth_identity *identity)
{
    *identity = (struct auth_identity){
        .org = entry->org,
        .role = entry->role,
        .server = entry->server,
        .key_id = entry->use.key_id,
        .expire_at_us = entry->expire_at_us,
        .user_id = slice_of(entry->user_id, entry->user_id_bytes),
    };
}

bool auth_check_cached(struct auth *auth, struct slice authorization, uint64_t version,
                       const struct clock *clock, struct auth_identity *ret_identity)
{
    struct entry *entry = NULL;
    struct slice token;

    if (!strip_scheme(authorization, &token)) {
        return false;
    }
    entry = entry_of(auth, token);
    if (!entry->used || entry->version != version ||
        (entry->expire_at_us != 0 && entry->expire_at_us <= clock_wall_us(clock)) ||
        !token_texts_equal(entry->text, token.data)) {
        return false;
    }
    entry->use.was_called = true;
    identity_of(entry, ret_identity);
    return true;
}

/* Returns why a token is invalid, for the log; NULL if it is valid. */
static const char *find_flaw(const struct token_record *record, bool known, bool right,
                             int64_t now_us)
{
    if (!known) {
        return "unknown key id";
    }
    if (!right) {
        return "wrong secret";
    }
    if (record->revoked_at_us != 0) {
        return "revoked";
    }
    return record->expire_at_us != 0 && record->expire_at_us <= now_us ? "expired" : NULL;
}

/* Finds the stored token, if the secret matches and it is valid now; else the reason. */
static enum err find_token(struct ctx *ctx, struct store_txn *txn, uint32_t key_id,
                           const struct token_secret *secret, struct token_record *ret_record,
                           const char **ret_flaw)
{
    static const struct sha256_digest
        no_secret; /* compared with if the key id is unknown; no known secret has a hash of zeros */
    struct sha256_digest digest = token_hash_secret(secret);
    struct token_record record = {.secret_sha256 = no_secret};
    enum err err = admin_read_token(txn, key_id, &record);
    int64_t now_us = clock_wall_us(ctx->clock);
    const char *flaw = NULL;
    bool right = false;

    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    right = CRYPTO_memcmp(digest.bytes, record.secret_sha256.bytes, SHA256_BYTES) == 0;
    flaw = find_flaw(&record, err == OK, right, now_us);
    if (flaw != NULL) {
        *ret_flaw = flaw;
        return ERR_UNAUTHENTICATED;
    }
    *ret_record = record;
    return OK;
}

/* Refuses the tokens of a suspended organisation, whose callers need to know whom to ask. */
static enum err check_organization(struct auth *auth, struct ctx *ctx, struct store_txn *txn,
                                   uint32_t key_id, struct uuid org)
{
    char org_id[UUID_TEXT_BYTES];
    bool is_suspended = false;
    enum err err =
        organization_state_is_suspended(txn, (struct org_id){.uuid = org}, &is_suspended);

    if (err != OK || !is_suspended) {
        return err;
    }
    auth->refusal = (struct auth_refusal){"organisation suspended", true, key_id};
    uuid_format(org, org_id);
    return fault_say(ctx->fault, ERR_ORGANIZATION_SUSPENDED,
                     "authorization: the token's organisation %.*s is suspended; expected the "
                     "operator of this server to resume it (errata org resume)",
                     (int)sizeof(org_id), org_id);
}

/* Keeps the use of a token that loses its place, in a free place of the list, else in place of the oldest. */
static void keep_lost_use(struct auth *auth, const struct use *use)
{
    size_t at = 0;

    while (at < AUTH_LOST_MAX && auth->lost[at].key_id != 0) {
        at++;
    }
    if (at == AUTH_LOST_MAX) {
        at = auth->lost_next;
        auth->lost_next = (at + 1) % AUTH_LOST_MAX;
    }
    auth->lost[at] = *use;
}

/* Returns the use of a token that had lost its place, and removes it from the list. */
static struct use take_lost_use(struct auth *auth, uint32_t key_id)
{
    struct use use = {.key_id = key_id};

    for (size_t i = 0; i < AUTH_LOST_MAX; i++) {
        if (auth->lost[i].key_id == key_id) {
            use = auth->lost[i];
            auth->lost[i] = (struct use){.key_id = 0};
            break;
        }
    }
    return use;
}

/* Returns the use of a token that is called now and takes an entry; that of the entry's token is kept. */
static struct use change_use(struct auth *auth, const struct entry *entry, uint32_t key_id)
{
    struct use use = entry->use;

    if (!entry->used || entry->use.key_id != key_id) {
        use = take_lost_use(auth, key_id);
        if (entry->used) {
            keep_lost_use(auth, &entry->use);
        }
    }
    use.was_called = true;
    return use;
}

enum err auth_check(struct auth *auth, struct ctx *ctx, struct store_txn *txn,
                    struct slice authorization, uint64_t version,
                    struct auth_identity *ret_identity)
{
    struct token_record record;
    struct token_secret secret = {{0}};
    struct entry *entry = NULL;
    struct slice token;
    struct use use;
    uint32_t key_id = 0;
    const char *flaw = NULL;
    enum err err = OK;

    if (authorization.size == 0) {
        auth->refusal = (struct auth_refusal){.reason = "no token"};
        return fault_say(ctx->fault, ERR_UNAUTHENTICATED,
                         "authorization: missing; expected 'Bearer "
                         "errata_...' with a token of this server");
    }
    if (!strip_scheme(authorization, &token) || !token_parse(token, &key_id, &secret)) {
        auth->refusal = (struct auth_refusal){.reason = "malformed token"};
        return fault_say(ctx->fault, ERR_UNAUTHENTICATED,
                         "authorization: malformed; expected 'Bearer ' and a token of the form "
                         "errata_<8 hex digits>_<43 characters>");
    }
    err = find_token(ctx, txn, key_id, &secret, &record, &flaw);
    OPENSSL_cleanse(&secret, sizeof(secret));
    if (err == ERR_UNAUTHENTICATED) {
        auth->refusal = (struct auth_refusal){flaw, true, key_id};
        return fault_say(ctx->fault, err,
                         "authorization: the token is unknown, revoked or expired; expected a "
                         "valid token of this server");
    }
    if (err == OK) {
        err = check_organization(auth, ctx, txn, key_id, record.org);
    }
    if (err != OK) {
        return err;
    }
    if (record.user_id.size > AUTH_USER_ID_BYTES_MAX) {
        return ERR_CORRUPT;
    }
    entry = entry_of(auth, token);
    use = change_use(auth, entry, key_id);
    *entry = (struct entry){
        .used = true,
        .version = version,
        .use = use,
        .expire_at_us = record.expire_at_us,
        .org = {record.org},
        .role = record.role,
        .server = record.server,
        .user_id_bytes = (uint8_t)record.user_id.size,
    };
    memcpy(entry->text, token.data, TOKEN_TEXT_BYTES);
    if (record.user_id.size != 0) {
        memcpy(entry->user_id, record.user_id.data, record.user_id.size);
    }
    identity_of(entry, ret_identity);
    return OK;
}

/* Returns whether a use is to be returned, as which it is noted. */
static bool take_use(struct use *use, uint64_t day)
{
    use->was_taken = use->was_called && use->taken_day != day;
    use->was_called = false;
    if (use->was_taken) {
        use->taken_day = day;
    }
    return use->was_taken;
}

static void repeat_use(struct use *use)
{
    if (use->was_taken) {
        use->taken_day = 0;
        use->was_called = true;
    }
}

size_t auth_take_uses(struct auth *auth, uint64_t day, uint32_t key_ids[AUTH_USES_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < AUTH_CACHE_ENTRIES; i++) {
        if (take_use(&auth->entries[i].use, day)) {
            key_ids[count] = auth->entries[i].use.key_id;
            count++;
        }
    }
    for (size_t i = 0; i < AUTH_LOST_MAX; i++) {
        if (take_use(&auth->lost[i], day)) {
            key_ids[count] = auth->lost[i].key_id;
            count++;
        }
    }
    return count;
}

void auth_repeat_uses(struct auth *auth)
{
    for (size_t i = 0; i < AUTH_CACHE_ENTRIES; i++) {
        repeat_use(&auth->entries[i].use);
    }
    for (size_t i = 0; i < AUTH_LOST_MAX; i++) {
        repeat_use(&auth->lost[i]);
    }
}

void auth_forget(struct auth *auth, struct org_id org)
{
    for (size_t i = 0; i < AUTH_CACHE_ENTRIES; i++) {
        struct entry *entry = &auth->entries[i];

        if (uuid_equal(entry->org.uuid, org.uuid)) {
            OPENSSL_cleanse(entry, sizeof(*entry));
        }
    }
}

struct quota_book *auth_quota_book(struct auth *auth)
{
    return auth->quotas;
}

struct auth_refusal auth_last_refusal(const struct auth *auth)
{
    return auth->refusal;
}

enum err auth_resolve_org(struct ctx *ctx, struct store_txn *txn, struct org_id own, bool server,
                          struct slice org_id, struct org_id *ret_org)
{
    struct org_id org = own;
    bool is_marked = false;
    enum err err = auth_resolve_any_org(ctx, txn, own, server, org_id, &org);

    if (err == OK) {
        err = log_deletion_is_marked(txn, org, &is_marked);
    }
    if (err == OK && is_marked) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "org_id: the organisation is being deleted; expected another one");
    }
    if (err == OK) {
        err = log_import_is_marked(txn, org, &is_marked);
    }
    if (err == OK && is_marked) {
        return ERR_ORGANIZATION_IMPORTING;
    }
    if (err == OK) {
        *ret_org = org;
    }
    return err;
}

enum err auth_resolve_any_org(struct ctx *ctx, struct store_txn *txn, struct org_id own,
                              bool server, struct slice org_id, struct org_id *ret_org)
{
    struct organization_record record;
    struct uuid uuid;
    struct slice shown;
    enum err err = ERR_NOT_FOUND;

    if (org_id.size == 0) {
        *ret_org = own;
        return OK;
    }
    if (uuid_parse(org_id, &uuid)) {
        if (uuid_equal(uuid, own.uuid)) {
            *ret_org = own;
            return OK;
        }
        err = server ? admin_read_organization(txn, uuid, &record) : ERR_NOT_FOUND;
    }
    if (err == OK) {
        ret_org->uuid = uuid;
        return OK;
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    shown = fault_shorten(ctx->fault, org_id);
    return fault_say(ctx->fault, err,
                     "org_id: '%.*s' not found; expected an organisation that this token may use, "
                     "or no value for the token's own",
                     (int)shown.size, (const char *)shown.data);
}

/* ERR_QUOTA if an organisation stores as much as its quota allows. */
static enum err check_storage(struct store_txn *txn, struct org_id org)
{
    const struct quota_holder holder = {.org = org};
    struct quota_record quota;
    enum err err = quota_read(txn, &holder, &quota);

    return err == OK ? quota_check_stored_bytes(txn, org, quota.stored_bytes) : err;
}

enum err auth_find_org(struct store_txn *txn, struct slice name, struct org_id *ret_org)
{
    bool is_suspended = false;
    enum err err = admin_find_organization(txn, name, &ret_org->uuid);

    if (err == OK) {
        err = organization_state_is_suspended(txn, *ret_org, &is_suspended);
    }
    if (err == OK) {
        err = is_suspended ? ERR_ORGANIZATION_SUSPENDED : check_storage(txn, *ret_org);
    }
    return err;
}
