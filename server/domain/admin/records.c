/*
 * records.c: see records.h.
 */
#include "server/domain/admin/records.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/record_row.h"

#include <record/admin.views.h>

enum err record_decode_organization(struct slice bytes, struct organization_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct organization_row_view message;
    enum err err = organization_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record_need(&check, message.name.size > 0);
    record_need(&check, !bytes_are_zero(message.id, UUID_BYTES));
    record_need(&check, message.suspended_at_us == 0 || message.state_seq != 0);
    if (!check.failed) {
        memcpy(ret_record->id.bytes, message.id, UUID_BYTES);
        ret_record->name = message.name;
        ret_record->created_at_us = message.created_at_us;
        ret_record->suspended_at_us = message.suspended_at_us;
        ret_record->state_seq = message.state_seq;
    }
    return record_check_result(&check);
}

enum err record_encode_organization(struct arena *arena, const struct organization_record *record,
                                    struct slice *ret_bytes)
{
    struct organization_row_view message = {
        .name = record->name,
        .created_at_us = record->created_at_us,
        .suspended_at_us = record->suspended_at_us,
        .state_seq = record->state_seq,
    };

    if (UNEXPECTED(record->name.size == 0) ||
        UNEXPECTED(bytes_are_zero(record->id.bytes, UUID_BYTES))) {
        return ERR_INTERNAL;
    }
    memcpy(message.id, record->id.bytes, UUID_BYTES);
    return record_encode(arena, &organization_row_view_type, &message, ret_bytes);
}

enum err record_decode_token(struct slice bytes, struct token_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct token_row_view message;
    enum err err = token_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record_need(&check, message.role != 0);
    record_need(&check, !bytes_are_zero(message.org, UUID_BYTES));
    record_need(&check, !bytes_are_zero(message.secret_sha256, SHA256_BYTES));
    if (check.failed) {
        return ERR_CORRUPT;
    }
    memcpy(ret_record->org.bytes, message.org, UUID_BYTES);
    memcpy(ret_record->secret_sha256.bytes, message.secret_sha256, SHA256_BYTES);
    ret_record->role = message.role;
    ret_record->server = message.server;
    ret_record->user_id = message.user_id;
    ret_record->created_by = message.created_by;
    ret_record->created_at_us = message.created_at_us;
    ret_record->expire_at_us = message.expire_at_us;
    ret_record->revoked_at_us = message.revoked_at_us;
    ret_record->is_replaced = message.is_replaced;
    ret_record->replaced_by = message.replaced_by;
    return OK;
}

enum err record_encode_token(struct arena *arena, const struct token_record *record,
                             struct slice *ret_bytes)
{
    struct token_row_view message = {
        .role = record->role,
        .server = record->server,
        .user_id = record->user_id,
        .created_by = record->created_by,
        .created_at_us = record->created_at_us,
        .expire_at_us = record->expire_at_us,
        .revoked_at_us = record->revoked_at_us,
        .is_replaced = record->is_replaced,
        .replaced_by = record->replaced_by,
    };

    if (UNEXPECTED(record->role == 0) ||
        UNEXPECTED(bytes_are_zero(record->org.bytes, UUID_BYTES)) ||
        UNEXPECTED(bytes_are_zero(record->secret_sha256.bytes, SHA256_BYTES))) {
        return ERR_INTERNAL;
    }
    memcpy(message.org, record->org.bytes, UUID_BYTES);
    memcpy(message.secret_sha256, record->secret_sha256.bytes, SHA256_BYTES);
    return record_encode(arena, &token_row_view_type, &message, ret_bytes);
}
