/*
 * decide.c: the decisions about organisations and tokens. Each reads in its transaction, refuses
 * before the first put, then appends one event and applies it.
 */
#include "server/domain/admin/admin_internal.h"
#include "server/domain/admin/facts.h"
#include "server/domain/admin/keys.h"
#include "server/domain/admin/records.h"

#include <errata/v1/role.fields.h>
#include <event_apply.h>
#include <inttypes.h>

enum err admin_draft_append(struct ctx *ctx, struct store_txn *txn, struct event_draft *draft,
                            struct work_result *ret_result)
{
    uint64_t seq = 0;
    enum err err = OK;

    draft->created_at_us = draft->stamp.created_at_us;
    err = event_draft_append(ctx, txn, draft, admin_apply, &seq);
    if (err == OK) {
        *ret_result = (struct work_result){.org = draft->org, .first_seq = seq, .count = 1};
    }
    return err;
}

void admin_draft_fill(struct event_draft *draft, struct org_id org, enum event_kind_number kind,
                      const struct admin_actor *actor)
{
    *draft = (struct event_draft){
        .org = org,
        .kind = kind,
        .annotator = actor->annotator,
        .source = actor->source,
        .actor_user_id = actor->user_id,
    };
}

enum err admin_create_organization(struct ctx *ctx, struct store_txn *txn,
                                   const struct admin_actor *actor, struct slice name,
                                   struct work_result *ret_result)
{
    struct key key = key_organization_name_global(name);
    struct event_draft draft;
    struct organization_created_view created = {.name = name};
    struct org_id org;
    struct slice taken;
    enum err err = OK;

    if (!actor->server) {
        return fault_say(ctx->fault, ERR_DENIED,
                         "authorization: the token lacks the server flag; expected a token with "
                         "the flag to create organisations");
    }
    err = store_get(txn, TABLE_ORGANIZATION_NAME, key_slice(&key), &taken);
    if (err == OK) {
        struct slice shown = fault_shorten(ctx->fault, name);

        return fault_say(ctx->fault, ERR_EXISTS,
                         "organization.name: '%.*s' exists; expected another name", (int)shown.size,
                         (const char *)shown.data);
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    org.uuid = uuid_v7(clock_wall_us(ctx->clock), ctx->random);
    created.org_id = org.uuid;
    admin_draft_fill(&draft, org, EVENT_ORGANIZATION_CREATED, actor);
    err = log_next_stamp(ctx, txn, org, &draft.stamp);
    if (err != OK) {
        return err;
    }
    if (!view_encode(&organization_created_view_type, &created, ctx->arena, &draft.facts)) {
        return ERR_MEMORY;
    }
    err = event_draft_add_id(ctx->arena, &draft, SUBJECT_ORGANIZATION, org.uuid);
    if (err != OK) {
        return err;
    }
    return admin_draft_append(ctx, txn, &draft, ret_result);
}

/* Draws a key id that no token has or had. */
static enum err draw_key_id(struct ctx *ctx, struct store_txn *txn, uint32_t *ret_key_id)
{
    for (unsigned draw = 0; draw < ADMIN_KEY_ID_DRAWS_MAX; draw++) {
        struct token_record token;
        uint32_t key_id = 0;
        enum err err = OK;

        random_fill(ctx->random, &key_id, sizeof(key_id));
        err = admin_read_token(txn, key_id, &token);
        if (err == ERR_NOT_FOUND) {
            *ret_key_id = key_id;
            return OK;
        }
        if (err != OK) {
            return err;
        }
    }
    return ERR_INTERNAL;
}

void admin_check_token(struct ctx *ctx, const struct admin_token_draft *draft)
{
    bool is_personal = draft->role == ROLE_OPERATOR || draft->role == ROLE_REVIEWER;

    if (is_personal && draft->user_id.size == 0) {
        fault_add(ctx->fault, SLICE("token.user_id"),
                  "missing; expected a user, which tokens of the roles OPERATOR and REVIEWER need");
    }
}

enum err admin_create_token(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                            const struct admin_token_draft *token, struct work_result *ret_result)
{
    struct event_draft draft;
    uint32_t key_id = 0;
    char key_id_text[ADMIN_KEY_ID_TEXT_BYTES];
    enum err err = OK;

    admin_check_token(ctx, token);
    err = fault_result(ctx->fault);
    if (err != OK) {
        return err;
    }
    if (token->server && !actor->server) {
        return fault_say(ctx->fault, ERR_DENIED,
                         "token.server: the caller's token lacks the server flag; expected a token "
                         "with the flag to grant it");
    }
    admin_draft_fill(&draft, token->org, EVENT_TOKEN_CREATED, actor);
    err = log_next_stamp(ctx, txn, token->org, &draft.stamp);
    if (err != OK) {
        return err;
    }
    if (token->expire_at_us != 0 && token->expire_at_us <= clock_wall_us(ctx->clock)) {
        fault_add(
            ctx->fault, SLICE("token.expires_at"),
            "not in the future; expected a future time, or none for a token that never expires");
        return ERR_INVALID;
    }
    err = draw_key_id(ctx, txn, &key_id);
    if (err != OK) {
        return err;
    }
    err = facts_encode_token_created(ctx->arena, key_id, token, &draft.facts);
    if (err != OK) {
        return err;
    }
    admin_format_key_id(key_id, key_id_text);
    event_draft_add_subject(&draft, SUBJECT_TOKEN, slice_of(key_id_text, sizeof(key_id_text)));
    return admin_draft_append(ctx, txn, &draft, ret_result);
}

enum err admin_find_token(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          uint32_t key_id, struct token_record *ret_token)
{
    enum err err = admin_read_token(txn, key_id, ret_token);

    if (err == ERR_NOT_FOUND || (err == OK && !uuid_equal(ret_token->org, org.uuid))) {
        return fault_say(ctx->fault, ERR_NOT_FOUND,
                         "key_id: %08" PRIx32
                         " not found in this organisation; expected the key id of a token",
                         key_id);
    }
    return err;
}

/* Refuses to revoke the last token that can administer the server: without one, a new token can
 * only be created while the server is stopped. */
static enum err check_not_last(struct ctx *ctx, struct store_txn *txn, uint32_t key_id,
                               const struct token_record *token)
{
    int64_t now_us = clock_wall_us(ctx->clock);
    struct admin_server_access rest;
    enum err err = OK;

    if (!admin_token_rules_server(token, now_us)) {
        return OK;
    }
    err = admin_read_server_access(txn, now_us, &key_id, ADMIN_TOKENS_SCANNED_MAX, &rest);
    if (err != OK || rest.until_us != 0) {
        return err;
    }
    return fault_say(ctx->fault, ERR_PRECONDITION,
                     "key_id: %08" PRIx32
                     " is the last usable ADMIN token with the server flag; expected another such "
                     "token to be created first, and to revoke this one",
                     key_id);
}

enum err admin_revoke_token(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                            struct org_id org, uint32_t key_id, struct work_result *ret_result)
{
    struct event_draft draft;
    struct token_record token;
    char key_id_text[ADMIN_KEY_ID_TEXT_BYTES];
    enum err err = admin_find_token(ctx, txn, org, key_id, &token);

    if (err != OK) {
        return err;
    }
    if (token.revoked_at_us != 0) {
        *ret_result = (struct work_result){.org = org};
        return OK;
    }
    err = check_not_last(ctx, txn, key_id, &token);
    if (err != OK) {
        return err;
    }
    admin_draft_fill(&draft, org, EVENT_TOKEN_REVOKED, actor);
    err = log_next_stamp(ctx, txn, org, &draft.stamp);
    if (err != OK) {
        return err;
    }
    err = facts_encode_token_revoked(ctx->arena, key_id, &draft.facts);
    if (err != OK) {
        return err;
    }
    admin_format_key_id(key_id, key_id_text);
    event_draft_add_subject(&draft, SUBJECT_TOKEN, slice_of(key_id_text, sizeof(key_id_text)));
    return admin_draft_append(ctx, txn, &draft, ret_result);
}
