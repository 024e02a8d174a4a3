/*
 * admin_wire.c: see admin_wire.h.
 */
#include "server/api/admin/admin_wire.h"

#include <errata/v1/admin_service.views.h>

struct admin_actor admin_wire_actor(const struct service *service)
{
    bool human = service->principal->user_id.size != 0;

    return (struct admin_actor){service_actor(service), human ? ANNOTATOR_HUMAN : ANNOTATOR_CODE,
                                SOURCE_LIVE, service->principal->server};
}

/* Returns what organisations have in every state; `id` is memory of the text of its id. */
static struct organization_view view_of(const struct organization_record *record,
                                        char id[UUID_TEXT_BYTES])
{
    uuid_format(record->id, id);
    return (struct organization_view){
        .id = slice_of(id, UUID_TEXT_BYTES),
        .name = record->name,
        .created_at_us = record->created_at_us,
        .has_created_at = true,
    };
}

void admin_wire_put_organization(const struct organization_record *record, uint32_t field,
                                 struct buffer *body)
{
    char id[UUID_TEXT_BYTES];
    struct organization_view view = view_of(record, id);

    view.has_suspended_at = record->suspended_at_us != 0;
    view.suspended_at_us = record->suspended_at_us;
    view.state = view.has_suspended_at ? ORGANIZATION_STATE_SUSPENDED : ORGANIZATION_STATE_ACTIVE;
    organization_view_put(&view, field, body);
}

void admin_wire_put_importing(const struct organization_record *record, uint32_t field,
                              struct buffer *body)
{
    char id[UUID_TEXT_BYTES];
    struct organization_view view = view_of(record, id);

    view.state = ORGANIZATION_STATE_IMPORTING;
    organization_view_put(&view, field, body);
}

enum err admin_wire_put_deleted(struct arena *arena, const struct organization_record *record,
                                const struct deletion_progress_view *deletion, uint32_t field,
                                struct buffer *body)
{
    char id[UUID_TEXT_BYTES];
    struct organization_view view = view_of(record, id);

    view.state = ORGANIZATION_STATE_DELETING;
    view.has_deletion = true;
    if (!view_encode(&deletion_progress_view_type, deletion, arena, &view.deletion)) {
        return ERR_MEMORY;
    }
    organization_view_put(&view, field, body);
    return OK;
}

void admin_wire_put_token(uint32_t key_id, const struct token_record *record,
                          int64_t last_used_at_us, uint32_t field, struct buffer *body)
{
    char key_id_text[ADMIN_KEY_ID_TEXT_BYTES];
    char replaced_by[ADMIN_KEY_ID_TEXT_BYTES];
    char org_id[UUID_TEXT_BYTES];
    const struct token_view view = {
        .key_id = slice_of(key_id_text, sizeof(key_id_text)),
        .org_id = slice_of(org_id, sizeof(org_id)),
        .role = (enum role)record->role,
        .server = record->server,
        .user_id = record->user_id,
        .has_user_id = record->user_id.size > 0,
        .expires_at_us = record->expire_at_us,
        .has_expires_at = record->expire_at_us != 0,
        .created_at_us = record->created_at_us,
        .has_created_at = true,
        .created_by = record->created_by,
        .revoked_at_us = record->revoked_at_us,
        .has_revoked_at = record->revoked_at_us != 0,
        .replaced_by = slice_of(replaced_by, sizeof(replaced_by)),
        .has_replaced_by = record->is_replaced,
        .last_used_at_us = last_used_at_us,
        .has_last_used_at = last_used_at_us != 0,
    };

    admin_format_key_id(key_id, key_id_text);
    admin_format_key_id(record->replaced_by, replaced_by);
    uuid_format(record->org, org_id);
    token_view_put(&view, field, body);
}
