/*
 * first_token.c: the organisation `default` and its first token.
 */
#include "server/auth/first_token.h"

#include "server/auth/token.h"
#include "server/domain/admin/organization_state.h"

#include <errata/v1/role.fields.h>

static const struct admin_actor actor = {
    {(const uint8_t *)"system", 6}, ANNOTATOR_CODE, SOURCE_SYSTEM, true};

/* Appends an administrator's token for the organisation; returns its text and key id. */
static enum err add_token(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          char text[TOKEN_TEXT_BYTES], uint32_t *ret_key_id)
{
    struct token_secret secret = token_make_secret(ctx->random);
    const struct admin_token_draft draft = {
        .org = org,
        .role = ROLE_ADMIN,
        .server = true,
        .secret_sha256 = token_hash_secret(&secret),
    };
    struct work_result result;
    struct event event;
    enum err err = admin_create_token(ctx, txn, &actor, &draft, &result);

    if (err == OK) {
        err = log_read(txn, result.org, result.first_seq, &event);
    }
    if (err == OK) {
        err = admin_created_key_id(&event, ret_key_id);
    }
    if (err == OK) {
        token_format(*ret_key_id, &secret, text);
    }
    token_cleanse(&secret, sizeof(secret));
    return err;
}

/* Creates the organisation and the token; returns the token's text. */
static enum err make_first(struct ctx *ctx, struct store_txn *txn, char text[TOKEN_TEXT_BYTES],
                           uint32_t *ret_key_id)
{
    struct work_result result;
    enum err err =
        admin_create_organization(ctx, txn, &actor, SLICE(ADMIN_SERVER_ORGANIZATION), &result);

    return err != OK ? err : add_token(ctx, txn, result.org, text, ret_key_id);
}

/* Creates only a token, for a store that has the organisation. */
static enum err make_another(struct ctx *ctx, struct store_txn *txn, char text[TOKEN_TEXT_BYTES],
                             uint32_t *ret_key_id)
{
    struct org_id org;
    enum err err = organization_state_find_server(txn, &org);

    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "store: the organisation `" ADMIN_SERVER_ORGANIZATION
                         "` is missing; expected a store with which a server has been started");
    }
    return err != OK ? err : add_token(ctx, txn, org, text, ret_key_id);
}

typedef enum err make_fn(struct ctx *ctx, struct store_txn *txn, char text[TOKEN_TEXT_BYTES],
                         uint32_t *ret_key_id);

/* Runs `make` in a transaction that is committed once the text is kept. */
static enum err make_kept(struct ctx *ctx, struct store_backend *backend, make_fn *make_text,
                          first_token_keep_fn *keep, void *user, uint32_t *ret_key_id)
{
    char text[TOKEN_TEXT_BYTES];
    struct store_txn *txn = NULL;
    enum err err = store_begin(backend, STORE_WRITE, &txn);

    if (err != OK) {
        return err;
    }
    log_begin_write(txn, NULL);
    err = make_text(ctx, txn, text, ret_key_id);
    if (err == OK) {
        err = keep(user, slice_of(text, sizeof(text)));
    }
    token_cleanse(text, sizeof(text));
    if (err != OK) {
        store_abort(txn);
        return err;
    }
    return store_commit(txn);
}

/* Looks up the organisation without writing: on a full disk a write would fail, although none may
 * be needed. */
static enum err find_organization(struct store_backend *backend, bool *ret_has)
{
    struct store_txn *txn = NULL;
    enum err err = store_begin(backend, STORE_READ, &txn);

    if (err == OK) {
        err = admin_has_organization(txn, ret_has);
        store_abort(txn);
    }
    return err;
}

enum err first_token_make(struct ctx *ctx, struct store_backend *backend, first_token_keep_fn *keep,
                          void *user, bool *ret_made)
{
    uint32_t key_id = 0;
    bool has = false;
    enum err err = find_organization(backend, &has);

    if (err == OK && !has) {
        err = make_kept(ctx, backend, make_first, keep, user, &key_id);
    }
    if (err == OK) {
        *ret_made = !has;
    }
    return err;
}

enum err first_token_add(struct ctx *ctx, struct store_backend *backend, first_token_keep_fn *keep,
                         void *user, uint32_t *ret_key_id)
{
    return make_kept(ctx, backend, make_another, keep, user, ret_key_id);
}
