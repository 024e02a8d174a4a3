/*
 * admin_service.c: AdminService: organisations and tokens. An org_id other than the token's own
 * needs its `server` flag (auth_resolve_org). Lists and the server's numbers stand in admin_list.c
 * and server_info.c.
 */
#include "server/api/admin/admin_wire.h"
#include "server/auth/auth.h"
#include "server/auth/token.h"
#include "server/domain/admin/records.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"

#include <errata/v1/admin_service.handlers.h>
#include <inttypes.h>

/* 9999-12-31T23:59:59Z, the last second of a google.protobuf.Timestamp. */
#define TIMESTAMP_SECONDS_MAX 253402300799

/* Who does it: the token's user, or the token itself. */
static struct admin_actor actor_of(const struct service *service)
{
    bool human = service->principal->user_id.size != 0;

    return (struct admin_actor){service_actor(service), human ? ANNOTATOR_HUMAN : ANNOTATOR_CODE,
                                SOURCE_LIVE, service->principal->server};
}

static enum err resolve_org(const struct service *service, struct store_txn *txn,
                            const char *org_id, struct org_id *ret_org)
{
    return auth_resolve_org(service->ctx, txn, service->principal->org, service->principal->server,
                            slice_text(org_id), ret_org);
}

enum err
admin_service_create_organization_write(struct service *service, struct store_txn *txn,
                                        const Errata__V1__CreateOrganizationRequest *request,
                                        void *prepared, struct work_result *result)
{
    struct admin_actor actor = actor_of(service);

    (void)prepared;
    return admin_create_organization(service->ctx, txn, &actor,
                                     slice_text(request->organization->name), result);
}

enum err
admin_service_create_organization_answer(struct service *service, struct store_txn *txn,
                                         const Errata__V1__CreateOrganizationRequest *request,
                                         void *prepared, const struct work_result *result,
                                         struct reply *reply)
{
    Errata__V1__CreateOrganizationResponse response =
        ERRATA__V1__CREATE_ORGANIZATION_RESPONSE__INIT;
    struct organization_record record;
    enum err err = admin_read_organization(txn, result->org.uuid, &record);

    (void)request;
    (void)prepared;
    if (err == OK) {
        err = admin_wire_organization(service->ctx->arena, &record, &response.organization);
    }
    return err != OK ? err : reply_message(reply, &response.base);
}

/* The token that is asked for, or all that is wrong with it. */
static enum err read_token(const struct service *service, const Errata__V1__Token *token,
                           struct admin_token_draft *draft)
{
    struct fault *fault = service->ctx->fault;
    enum role role = ROLE_UNSPECIFIED;

    if (!role_from_wire((int32_t)token->role, &role) || role == ROLE_UNSPECIFIED) {
        fault_add(fault, SLICE("token.role"),
                  "is the number %d; it must be one of VIEWER, OPERATOR, REVIEWER, SERVICE, "
                  "INTEGRATOR, ADMIN",
                  (int)token->role);
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
                      "must lie in the future; leave it out for a token that never ends");
        } else {
            draft->expire_at_us = timestamp_us(token->expires_at);
        }
    }
    return fault_result(fault);
}

enum err admin_service_create_token_prepare(struct service *service,
                                            const Errata__V1__CreateTokenRequest *request,
                                            void **ret_prepared)
{
    struct token_secret *secret =
        (struct token_secret *)arena_alloc(service->ctx->arena, sizeof(*secret));

    (void)request;
    if (secret == NULL) {
        return ERR_MEMORY;
    }
    *secret = token_make_secret(service->ctx->random);
    *ret_prepared = secret;
    return OK;
}

enum err admin_service_create_token_write(struct service *service, struct store_txn *txn,
                                          const Errata__V1__CreateTokenRequest *request,
                                          void *prepared, struct work_result *result)
{
    struct admin_actor actor = actor_of(service);
    struct admin_token_draft draft = {0};
    enum err err = read_token(service, request->token, &draft);

    if (err != OK) {
        return err;
    }
    err = resolve_org(service, txn, request->org_id, &draft.org);
    if (err != OK) {
        return err;
    }
    draft.secret_sha256 = token_hash_secret((const struct token_secret *)prepared);
    return admin_create_token(service->ctx, txn, &actor, &draft, result);
}

enum err admin_service_create_token_answer(struct service *service, struct store_txn *txn,
                                           const Errata__V1__CreateTokenRequest *request,
                                           void *prepared, const struct work_result *result,
                                           struct reply *reply)
{
    Errata__V1__CreateTokenResponse response = ERRATA__V1__CREATE_TOKEN_RESPONSE__INIT;
    char text[TOKEN_TEXT_BYTES + 1] = "";
    struct token_record record;
    struct event event;
    uint32_t key_id = 0;
    enum err err = log_read(txn, result->org, result->first_seq, &event);

    (void)request;
    if (err == OK) {
        err = admin_created_key_id(&event, &key_id);
    }
    if (err != OK) {
        return err;
    }
    if (result->repeated) {
        return fault_say(service->ctx->fault, ERR_EXISTS,
                         "the token %08" PRIx32 " was created under this idempotency key; its "
                         "secret is shown once, so revoke it and create another if it was lost",
                         key_id);
    }
    err = admin_read_token(txn, key_id, &record);
    if (err == OK) {
        err = admin_wire_token(service->ctx->arena, key_id, &record, &response.token);
    }
    if (err != OK) {
        return err;
    }
    token_format(key_id, (const struct token_secret *)prepared, text);
    response.secret = text;
    err = reply_message(reply, &response.base);
    token_cleanse(text, sizeof(text));
    return err;
}

enum err admin_service_revoke_token_write(struct service *service, struct store_txn *txn,
                                          const Errata__V1__RevokeTokenRequest *request,
                                          void *prepared, struct work_result *result)
{
    struct admin_actor actor = actor_of(service);
    struct org_id org;
    uint32_t key_id = 0;
    enum err err = resolve_org(service, txn, request->org_id, &org);

    (void)prepared;
    if (err != OK) {
        return err;
    }
    if (!admin_parse_key_id(slice_text(request->key_id), &key_id)) {
        fault_add(service->ctx->fault, SLICE("key_id"), "must be eight lower-case hex digits");
        return ERR_INVALID;
    }
    return admin_revoke_token(service->ctx, txn, &actor, org, key_id, result);
}

enum err admin_service_revoke_token_answer(struct service *service, struct store_txn *txn,
                                           const Errata__V1__RevokeTokenRequest *request,
                                           void *prepared, const struct work_result *result,
                                           struct reply *reply)
{
    Errata__V1__RevokeTokenResponse response = ERRATA__V1__REVOKE_TOKEN_RESPONSE__INIT;
    struct token_record record;
    uint32_t key_id = 0;
    enum err err = OK;

    (void)prepared;
    (void)result;
    if (!admin_parse_key_id(slice_text(request->key_id), &key_id)) {
        return ERR_INTERNAL; /* _write has read it */
    }
    err = admin_read_token(txn, key_id, &record);
    if (err == OK) {
        err = admin_wire_token(service->ctx->arena, key_id, &record, &response.token);
    }
    return err != OK ? err : reply_message(reply, &response.base);
}
