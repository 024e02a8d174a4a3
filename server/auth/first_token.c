/*
 * first_token.c: the organisation `default` and its first token.
 */
#include "server/auth/first_token.h"

#include "server/auth/token.h"
#include "server/domain/admin/admin.h"

#include <errata/v1/role.fields.h>

/* Makes both, and tells the token's text. */
static enum err make(struct ctx *ctx, struct store_txn *txn, char text[TOKEN_TEXT_BYTES])
{
    const struct admin_actor actor = {SLICE("system"), ANNOTATOR_CODE, SOURCE_SYSTEM};
    struct token_secret secret = token_make_secret(ctx->random);
    struct admin_token_draft draft = {
        .role = ROLE_ADMIN,
        .server = true,
        .secret_sha256 = token_hash_secret(&secret),
    };
    struct work_result result;
    struct event event;
    uint32_t key_id = 0;
    enum err err = OK;

    log_begin_write(txn, NULL);
    err = admin_create_organization(ctx, txn, &actor, SLICE("default"), &result);
    if (err == OK) {
        draft.org = result.org;
        err = admin_create_token(ctx, txn, &actor, &draft, &result);
    }
    if (err == OK) {
        err = log_read(txn, result.org, result.first_seq, &event);
    }
    if (err == OK) {
        err = admin_created_key_id(&event, &key_id);
    }
    if (err == OK) {
        token_format(key_id, &secret, text);
    }
    token_cleanse(&secret, sizeof(secret));
    return err;
}

/* Only looks: a store on a full disk has no room for a write, and may need none. */
static enum err look(struct store_backend *backend, bool *ret_has)
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
    char text[TOKEN_TEXT_BYTES];
    struct store_txn *txn = NULL;
    bool has = false;
    enum err err = look(backend, &has);

    if (err != OK || has) {
        *ret_made = false;
        return err;
    }
    err = store_begin(backend, STORE_WRITE, &txn);
    if (err != OK) {
        return err;
    }
    err = make(ctx, txn, text);
    if (err == OK) {
        err = keep(user, slice_of(text, sizeof(text)));
    }
    token_cleanse(text, sizeof(text));
    if (err != OK) {
        store_abort(txn);
        return err;
    }
    *ret_made = true;
    return store_commit(txn);
}
