/*
 * admin_wire.c: rows of organisations and tokens as wire messages.
 */
#include "server/api/admin/admin_wire.h"

#include "server/domain/admin/records.h"

/* A C string of the bytes; NULL when there is no room. */
static char *text_of(struct arena *arena, struct slice bytes)
{
    struct slice copy;

    return arena_copy(arena, bytes, &copy) ? (char *)(uintptr_t)copy.data : NULL;
}

static char *uuid_text_of(struct arena *arena, struct uuid uuid)
{
    char text[UUID_TEXT_BYTES];

    uuid_format(uuid, text);
    return text_of(arena, slice_of(text, sizeof(text)));
}

Google__Protobuf__Timestamp *admin_wire_time(struct arena *arena, int64_t time_us)
{
    Google__Protobuf__Timestamp *time =
        (Google__Protobuf__Timestamp *)arena_alloc(arena, sizeof(*time));

    if (time != NULL) {
        google__protobuf__timestamp__init(time);
        time->seconds = time_us / 1000000;
        time->nanos = (int32_t)(time_us % 1000000) * 1000;
    }
    return time;
}

enum err admin_wire_organization(struct arena *arena, const struct organization_record *record,
                                 Errata__V1__Organization **ret_organization)
{
    Errata__V1__Organization *organization =
        (Errata__V1__Organization *)arena_alloc(arena, sizeof(*organization));

    if (organization == NULL) {
        return ERR_MEMORY;
    }
    errata__v1__organization__init(organization);
    organization->id = uuid_text_of(arena, record->id);
    organization->name = text_of(arena, record->name);
    organization->created_at = admin_wire_time(arena, record->created_at_us);
    if (organization->id == NULL || organization->name == NULL ||
        organization->created_at == NULL) {
        return ERR_MEMORY;
    }
    *ret_organization = organization;
    return OK;
}

/* The times that a token may lack; false when there is no room. */
static bool fill_times(struct arena *arena, const struct token_record *record,
                       Errata__V1__Token *token)
{
    token->created_at = admin_wire_time(arena, record->created_at_us);
    if (token->created_at == NULL) {
        return false;
    }
    if (record->expire_at_us != 0) {
        token->expires_at = admin_wire_time(arena, record->expire_at_us);
    }
    if (record->revoked_at_us != 0) {
        token->revoked_at = admin_wire_time(arena, record->revoked_at_us);
    }
    return (record->expire_at_us == 0 || token->expires_at != NULL) &&
           (record->revoked_at_us == 0 || token->revoked_at != NULL);
}

enum err admin_wire_token(struct arena *arena, uint32_t key_id, const struct token_record *record,
                          Errata__V1__Token **ret_token)
{
    Errata__V1__Token *token = (Errata__V1__Token *)arena_alloc(arena, sizeof(*token));
    char key_id_text[ADMIN_KEY_ID_TEXT_BYTES];

    if (token == NULL) {
        return ERR_MEMORY;
    }
    errata__v1__token__init(token);
    admin_format_key_id(key_id, key_id_text);
    token->key_id = text_of(arena, slice_of(key_id_text, sizeof(key_id_text)));
    token->org_id = uuid_text_of(arena, record->org);
    token->role = (Errata__V1__Role)record->role;
    token->server = record->server;
    token->created_by = text_of(arena, record->created_by);
    if (record->user_id.size != 0) {
        token->_user_id_case = ERRATA__V1__TOKEN___USER_ID_USER_ID;
        token->user_id = text_of(arena, record->user_id);
        if (token->user_id == NULL) {
            return ERR_MEMORY;
        }
    }
    if (token->key_id == NULL || token->org_id == NULL || token->created_by == NULL ||
        !fill_times(arena, record, token)) {
        return ERR_MEMORY;
    }
    *ret_token = token;
    return OK;
}
