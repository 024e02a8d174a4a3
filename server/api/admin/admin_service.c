/*
 * admin_service.c: AdminService: organisations and tokens. An org_id other than the token's own
 * needs its `server` flag (auth_resolve_org). Lists and the server's numbers are in admin_list.c
 * and server_info.c.
 */
#include "server/api/admin/admin_wire.h"
#include "server/auth/token.h"
#include "server/domain/admin/records.h"
#include "server/domain/quotas/quotas.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/admin_service.fields.h>
#include <errata/v1/admin_service.handlers.h>
#include <inttypes.h>

/* 9999-12-31T23:59:59Z, the last second of a google.protobuf.Timestamp. */
#define TIMESTAMP_SECONDS_MAX 253402300799

enum err
admin_service_create_organization_write(struct admin_service_create_organization_call *call)
{
    struct admin_actor actor = admin_wire_actor(call->service);

    return admin_create_organization(call->ctx, call->txn, &actor,
                                     slice_text(call->request->organization->name), call->result);
}

enum err
admin_service_create_organization_answer(struct admin_service_create_organization_call *call)
{
    struct organization_record record;
    enum err err = admin_read_organization(call->txn, call->result->org.uuid, &record);

    if (err == OK) {
        record.suspended_at_us = 0; /* as it was created, also for a repeat after its suspension */
        admin_wire_put_organization(&record, CREATE_ORGANIZATION_RESPONSE_ORGANIZATION_FIELD,
                                    call->body);
    }
    return err;
}

/* Reads the requested token; adds a fault for each invalid field. */
static enum err read_token(const struct service *service, const Errata__V1__Token *token,
                           struct admin_token_draft *draft)
{
    struct fault *fault = service->ctx->fault;
    enum role role = ROLE_UNSPECIFIED;

    if (UNEXPECTED(!role_from_wire((int32_t)token->role, &role) || role == ROLE_UNSPECIFIED)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    draft->role = (uint32_t)role;
    draft->server = token->server != 0;
    if (token->_user_id_case == ERRATA__V1__TOKEN___USER_ID_USER_ID) {
        draft->user_id = slice_text(token->user_id);
    }
    admin_check_token(service->ctx, draft);
    if (token->expires_at != NULL) {
        int64_t seconds = token->expires_at->seconds;

        if (seconds <= 0 || seconds > TIMESTAMP_SECONDS_MAX) {
            fault_add(fault, SLICE("token.expires_at"),
                      "not in the future; expected a future time, or none for a token that never "
                      "expires");
        } else {
            draft->expire_at_us = timestamp_us(token->expires_at);
        }
    }
    return fault_result(fault);
}

/* Draws the secret of a new token. */
static enum err make_secret(struct ctx *ctx, void **ret_prepared)
{
    struct token_secret *secret = (struct token_secret *)arena_alloc(ctx->arena, sizeof(*secret));

    if (secret == NULL) {
        return ERR_MEMORY;
    }
    *secret = token_make_secret(ctx->random);
    *ret_prepared = secret;
    return OK;
}

enum err admin_service_create_token_prepare(struct admin_service_create_token_call *call)
{
    return make_secret(call->ctx, &call->prepared);
}

enum err admin_service_create_token_write(struct admin_service_create_token_call *call)
{
    struct admin_actor actor = admin_wire_actor(call->service);
    struct admin_token_draft draft = {0};
    enum err err = read_token(call->service, call->request->token, &draft);

    if (err != OK) {
        return err;
    }
    err = caller_resolve_org(call->service, call->txn, call->request->org_id, &draft.org);
    if (err != OK) {
        return err;
    }
    draft.secret_sha256 = token_hash_secret((const struct token_secret *)call->prepared);
    return admin_create_token(call->ctx, call->txn, &actor, &draft, call->result);
}

/* A token whose creation is the first event of a write. */
struct new_token {
    struct ctx *ctx;
    struct store_txn *txn;
    const struct work_result *result;
    const struct token_secret *secret;
};

/* Appends a new token and its text, once: a repeat is ERR_EXISTS. */
static enum err put_new_token(const struct new_token *created, uint32_t token_field,
                              uint32_t secret_field, struct buffer *body)
{
    char text[TOKEN_TEXT_BYTES];
    struct token_record record;
    struct event event;
    uint32_t key_id = 0;
    enum err err = log_read(created->txn, created->result->org, created->result->first_seq, &event);

    if (err == OK) {
        err = admin_created_key_id(&event, &key_id);
    }
    if (err != OK) {
        return err;
    }
    if (created->result->repeated) {
        return fault_say(created->ctx->fault, ERR_EXISTS,
                         "idempotency-key: created the token %08" PRIx32
                         ", whose secret is shown only once; expected a new key, after revoking "
                         "that token if its secret is lost",
                         key_id);
    }
    err = admin_read_token(created->txn, key_id, &record);
    if (err != OK) {
        return err;
    }
    admin_wire_put_token(key_id, &record, 0, token_field, body);
    token_format(key_id, created->secret, text);
    wire_put_bytes(body, secret_field, slice_of(text, sizeof(text)));
    token_cleanse(text, sizeof(text));
    return OK;
}

enum err admin_service_create_token_answer(struct admin_service_create_token_call *call)
{
    const struct new_token created = {call->ctx, call->txn, call->result,
                                      (const struct token_secret *)call->prepared};

    return put_new_token(&created, CREATE_TOKEN_RESPONSE_TOKEN_FIELD,
                         CREATE_TOKEN_RESPONSE_SECRET_FIELD, call->body);
}

enum err admin_service_rotate_token_prepare(struct admin_service_rotate_token_call *call)
{
    return make_secret(call->ctx, &call->prepared);
}

/* Gives the new token the quota of the old one. */
static enum err inherit_quota(struct admin_service_rotate_token_call *call,
                              const struct admin_actor *actor, struct org_id org,
                              uint32_t old_key_id)
{
    uint32_t key_ids[2] = {old_key_id, 0};
    struct event event;
    enum err err = log_read(call->txn, org, call->result->first_seq, &event);

    if (err == OK) {
        err = admin_created_key_id(&event, &key_ids[1]);
    }
    return err != OK ? err : quota_inherit(call->ctx, call->txn, actor, org, key_ids, call->result);
}

enum err admin_service_rotate_token_write(struct admin_service_rotate_token_call *call)
{
    const Errata__V1__RotateTokenRequest *request = call->request;
    struct admin_actor actor = admin_wire_actor(call->service);
    struct admin_rotation rotation = {.overlap_us = ADMIN_OVERLAP_US_DEFAULT};
    enum err err = caller_resolve_org(call->service, call->txn, request->org_id, &rotation.org);

    if (err != OK) {
        return err;
    }
    if (UNEXPECTED(!admin_parse_key_id(slice_text(request->key_id), &rotation.key_id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (request->_overlap_seconds_case != 0) {
        rotation.overlap_us = (int64_t)request->overlap_seconds * 1000000;
    }
    rotation.secret_sha256 = token_hash_secret((const struct token_secret *)call->prepared);
    err = admin_rotate_token(call->ctx, call->txn, &actor, &rotation, call->result);
    return err != OK ? err : inherit_quota(call, &actor, rotation.org, rotation.key_id);
}

enum err admin_service_rotate_token_answer(struct admin_service_rotate_token_call *call)
{
    const struct new_token created = {call->ctx, call->txn, call->result,
                                      (const struct token_secret *)call->prepared};
    struct token_record record;
    uint32_t key_id = 0;
    enum err err = put_new_token(&created, ROTATE_TOKEN_RESPONSE_TOKEN_FIELD,
                                 ROTATE_TOKEN_RESPONSE_SECRET_FIELD, call->body);

    if (err != OK) {
        return err;
    }
    if (!admin_parse_key_id(slice_text(call->request->key_id), &key_id)) {
        return ERR_INTERNAL; /* _write has read it */
    }
    err = admin_read_token(call->txn, key_id, &record);
    if (err == OK) {
        admin_wire_put_token(key_id, &record, 0, ROTATE_TOKEN_RESPONSE_REPLACED_FIELD, call->body);
    }
    return err;
}

enum err admin_service_revoke_token_write(struct admin_service_revoke_token_call *call)
{
    struct admin_actor actor = admin_wire_actor(call->service);
    struct org_id org;
    uint32_t key_id = 0;
    enum err err = caller_resolve_org(call->service, call->txn, call->request->org_id, &org);

    if (err != OK) {
        return err;
    }
    if (UNEXPECTED(!admin_parse_key_id(slice_text(call->request->key_id), &key_id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    return admin_revoke_token(call->ctx, call->txn, &actor, org, key_id, call->result);
}

enum err admin_service_revoke_token_answer(struct admin_service_revoke_token_call *call)
{
    struct token_record record;
    uint32_t key_id = 0;
    enum err err = OK;

    if (!admin_parse_key_id(slice_text(call->request->key_id), &key_id)) {
        return ERR_INTERNAL; /* _write has read it */
    }
    err = admin_read_token(call->txn, key_id, &record);
    if (err == OK) {
        admin_wire_put_token(key_id, &record, 0, REVOKE_TOKEN_RESPONSE_TOKEN_FIELD, call->body);
    }
    return err;
}
