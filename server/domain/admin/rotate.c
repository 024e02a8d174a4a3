/*
 * rotate.c: replaces a token by a new one, while the old one is still valid for a given time.
 */
#include "server/domain/admin/admin_internal.h"
#include "server/domain/admin/facts.h"

#include <inttypes.h>

/* Refuses a token that cannot be used any more, or was replaced. */
static enum err check_usable(struct ctx *ctx, uint32_t key_id, const struct token_record *token,
                             int64_t now_us)
{
    if (token->revoked_at_us != 0 || (token->expire_at_us != 0 && token->expire_at_us <= now_us)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "key_id: %08" PRIx32
                         " is revoked or expired; expected a usable token, or CreateToken",
                         key_id);
    }
    if (token->is_replaced) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "key_id: %08" PRIx32 " was replaced by %08" PRIx32
                         "; expected the key id of the newer token",
                         key_id, token->replaced_by);
    }
    return OK;
}

/* Appends the new token. A token that expires is replaced by one that is valid for as long. */
static enum err create_new(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                           const struct admin_rotation *rotation, const struct token_record *old,
                           struct work_result *ret_result)
{
    struct admin_token_draft draft = {
        .org = rotation->org,
        .role = old->role,
        .server = old->server,
        .secret_sha256 = rotation->secret_sha256,
    };

    if (old->expire_at_us != 0) {
        draft.expire_at_us = clock_wall_us(ctx->clock) + old->expire_at_us - old->created_at_us;
    }
    /* The row is the transaction's, and the first put may move it. */
    return arena_copy(ctx->arena, old->user_id, &draft.user_id)
               ? admin_create_token(ctx, txn, actor, &draft, ret_result)
               : ERR_MEMORY;
}

/* Appends the end of the old token. */
static enum err append_rotation(struct ctx *ctx, struct store_txn *txn,
                                const struct admin_actor *actor,
                                const struct admin_rotation *rotation,
                                const struct facts_token_rotated *rotated)
{
    char key_id_text[ADMIN_KEY_ID_TEXT_BYTES];
    struct event_draft draft;
    struct work_result result;
    enum err err = OK;

    admin_draft_fill(&draft, rotation->org, EVENT_TOKEN_ROTATED, actor);
    err = log_next_stamp(ctx, txn, rotation->org, &draft.stamp);
    if (err == OK) {
        err = facts_encode_token_rotated(ctx->arena, rotated, &draft.facts);
    }
    if (err != OK) {
        return err;
    }
    admin_format_key_id(rotation->key_id, key_id_text);
    event_draft_add_subject(&draft, SUBJECT_TOKEN, slice_of(key_id_text, sizeof(key_id_text)));
    return admin_draft_append(ctx, txn, &draft, &result);
}

enum err admin_rotate_token(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                            const struct admin_rotation *rotation, struct work_result *ret_result)
{
    int64_t now_us = clock_wall_us(ctx->clock);
    struct facts_token_rotated rotated = {
        .key_id = rotation->key_id,
        .expire_at_us = now_us + rotation->overlap_us,
    };
    struct work_result created;
    struct token_record old;
    struct event event;
    enum err err = admin_find_token(ctx, txn, rotation->org, rotation->key_id, &old);

    if (err == OK) {
        err = check_usable(ctx, rotation->key_id, &old, now_us);
    }
    if (err != OK) {
        return err;
    }
    rotated.previous_expire_at_us = old.expire_at_us;
    if (old.expire_at_us != 0 && old.expire_at_us < rotated.expire_at_us) {
        rotated.expire_at_us = old.expire_at_us;
    }
    err = create_new(ctx, txn, actor, rotation, &old, &created);
    if (err == OK) {
        err = log_read(txn, created.org, created.first_seq, &event);
    }
    if (err == OK) {
        err = admin_created_key_id(&event, &rotated.replaced_by);
    }
    if (err == OK) {
        err = append_rotation(ctx, txn, actor, rotation, &rotated);
    }
    if (err == OK) {
        *ret_result = (struct work_result){
            .org = created.org, .first_seq = created.first_seq, .count = created.count + 1};
    }
    return err;
}
