/*
 * record_row.c: records of entities, counters, prompt templates, settings, organisations, tokens and
 * this node's own rows.
 */
#include "store/record_pb.h"

#include "store/base/assert.h"

#include <record.pb.h>

#define FINGERPRINT_BYTES 32
#define PERCENT_MAX 100

static void take_names(struct record_check *check, const errata_record_Name *names, size_t count,
                       struct record_names *ret_names)
{
    ret_names->count = count;
    for (size_t i = 0; i < count; i++) {
        ret_names->items[i] = record_take(check, names[i].text);
    }
}

enum err record_decode_entity(struct slice bytes, struct entity_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_EntityRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_EntityRow_msg, &message);
    if (err != OK) {
        return err;
    }
    message.fingerprint = record_take_sized(&check, message.fingerprint, FINGERPRINT_BYTES);
    record_need(&check, message.seq != 0);
    if (check.failed) {
        return ERR_CORRUPT;
    }
    ret_record->seq = message.seq;
    ret_record->created_at_us = message.created_at_us;
    ret_record->fingerprint = message.fingerprint;
    take_names(&check, message.fields, message.fields_count, &ret_record->fields);
    take_names(&check, message.remaining, message.remaining_count, &ret_record->remaining);
    return record_check_result(&check);
}

static void give_names(const struct record_names *names, errata_record_Name *ret_names,
                       pb_size_t *ret_count)
{
    *ret_count = (pb_size_t)names->count;
    for (size_t i = 0; i < names->count; i++) {
        ret_names[i].text = names->items[i];
    }
}

enum err record_encode_entity(struct arena *arena, const struct entity_record *record,
                              struct slice *ret_bytes)
{
    errata_record_EntityRow message;

    if (UNEXPECTED(record->seq == 0) || UNEXPECTED(record->fields.count > RECORD_NAMES_MAX) ||
        UNEXPECTED(record->remaining.count > RECORD_NAMES_MAX) ||
        UNEXPECTED(record->fingerprint.size != 0 &&
                   record->fingerprint.size != FINGERPRINT_BYTES)) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    message.seq = record->seq;
    message.created_at_us = record->created_at_us;
    message.fingerprint = record->fingerprint;
    give_names(&record->fields, message.fields, &message.fields_count);
    give_names(&record->remaining, message.remaining, &message.remaining_count);
    return record_pb_encode(arena, &errata_record_EntityRow_msg, &message, ret_bytes);
}

enum err record_decode_counter(struct slice bytes, struct counter_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_CounterRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_CounterRow_msg, &message);
    if (err != OK) {
        return err;
    }
    message.name = record_take(&check, message.name);
    record_need(&check, message.count != 0);
    if (!check.failed) {
        ret_record->count = message.count;
        ret_record->name = message.name;
    }
    return record_check_result(&check);
}

enum err record_encode_counter(struct arena *arena, const struct counter_record *record,
                               struct slice *ret_bytes)
{
    errata_record_CounterRow message = {.count = record->count, .name = record->name};

    if (UNEXPECTED(record->count == 0)) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_CounterRow_msg, &message, ret_bytes);
}

enum err record_decode_prompt_template(struct slice bytes,
                                       struct prompt_template_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_PromptTemplateRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_PromptTemplateRow_msg, &message);
    if (err != OK) {
        return err;
    }
    message.name = record_take(&check, message.name);
    record_need(&check, message.seq != 0 && message.version != 0);
    record_need(&check, message.name.size > 0);
    if (!check.failed) {
        ret_record->seq = message.seq;
        ret_record->version = message.version;
        ret_record->name = message.name;
    }
    return record_check_result(&check);
}

enum err record_encode_prompt_template(struct arena *arena,
                                       const struct prompt_template_record *record,
                                       struct slice *ret_bytes)
{
    errata_record_PromptTemplateRow message = {
        .seq = record->seq,
        .version = record->version,
        .name = record->name,
    };

    if (UNEXPECTED(record->seq == 0) || UNEXPECTED(record->version == 0) ||
        UNEXPECTED(record->name.size == 0)) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_PromptTemplateRow_msg, &message, ret_bytes);
}

enum err record_decode_settings(struct slice bytes, struct settings_record *ret_record)
{
    errata_record_SettingsRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_SettingsRow_msg, &message);
    if (err != OK) {
        return err;
    }
    if (message.seq == 0 || message.holdout_percent > PERCENT_MAX) {
        return ERR_CORRUPT;
    }
    ret_record->seq = message.seq;
    ret_record->holdout_percent = message.holdout_percent;
    ret_record->match_mode = message.match_mode;
    return OK;
}

enum err record_encode_settings(struct arena *arena, const struct settings_record *record,
                                struct slice *ret_bytes)
{
    errata_record_SettingsRow message = {
        .seq = record->seq,
        .holdout_percent = record->holdout_percent,
        .match_mode = record->match_mode,
    };

    if (UNEXPECTED(record->seq == 0) || UNEXPECTED(record->holdout_percent > PERCENT_MAX)) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_SettingsRow_msg, &message, ret_bytes);
}

enum err record_decode_organization(struct slice bytes, struct organization_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_OrganizationRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_OrganizationRow_msg, &message);
    if (err != OK) {
        return err;
    }
    message.name = record_take(&check, message.name);
    record_need(&check, message.name.size > 0);
    record_need(&check, !record_is_zero(message.id, UUID_BYTES));
    if (!check.failed) {
        memcpy(ret_record->id.bytes, message.id, UUID_BYTES);
        ret_record->name = message.name;
        ret_record->created_at_us = message.created_at_us;
    }
    return record_check_result(&check);
}

enum err record_encode_organization(struct arena *arena, const struct organization_record *record,
                                    struct slice *ret_bytes)
{
    errata_record_OrganizationRow message = {
        .name = record->name,
        .created_at_us = record->created_at_us,
    };

    if (UNEXPECTED(record->name.size == 0) ||
        UNEXPECTED(record_is_zero(record->id.bytes, UUID_BYTES))) {
        return ERR_INTERNAL;
    }
    memcpy(message.id, record->id.bytes, UUID_BYTES);
    return record_pb_encode(arena, &errata_record_OrganizationRow_msg, &message, ret_bytes);
}

enum err record_decode_token(struct slice bytes, struct token_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_TokenRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_TokenRow_msg, &message);
    if (err != OK) {
        return err;
    }
    message.user_id = record_take(&check, message.user_id);
    message.created_by = record_take(&check, message.created_by);
    record_need(&check, message.role != 0);
    record_need(&check, !record_is_zero(message.org, UUID_BYTES));
    record_need(&check, !record_is_zero(message.secret_sha256, SHA256_BYTES));
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
    return OK;
}

enum err record_encode_token(struct arena *arena, const struct token_record *record,
                             struct slice *ret_bytes)
{
    errata_record_TokenRow message = {
        .role = record->role,
        .server = record->server,
        .user_id = record->user_id,
        .created_by = record->created_by,
        .created_at_us = record->created_at_us,
        .expire_at_us = record->expire_at_us,
        .revoked_at_us = record->revoked_at_us,
    };

    if (UNEXPECTED(record->role == 0) ||
        UNEXPECTED(record_is_zero(record->org.bytes, UUID_BYTES)) ||
        UNEXPECTED(record_is_zero(record->secret_sha256.bytes, SHA256_BYTES))) {
        return ERR_INTERNAL;
    }
    memcpy(message.org, record->org.bytes, UUID_BYTES);
    memcpy(message.secret_sha256, record->secret_sha256.bytes, SHA256_BYTES);
    return record_pb_encode(arena, &errata_record_TokenRow_msg, &message, ret_bytes);
}

enum err record_decode_idempotency(struct slice bytes, struct idempotency_record *ret_record)
{
    errata_record_IdempotencyRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_IdempotencyRow_msg, &message);
    if (err != OK) {
        return err;
    }
    if (record_is_zero(message.log_org, UUID_BYTES) ||
        (message.first_seq == 0) != (message.count == 0)) {
        return ERR_CORRUPT;
    }
    memcpy(ret_record->request_sha256.bytes, message.request_sha256, SHA256_BYTES);
    memcpy(ret_record->log_org.bytes, message.log_org, UUID_BYTES);
    ret_record->first_seq = message.first_seq;
    ret_record->count = message.count;
    return OK;
}

enum err record_encode_idempotency(struct arena *arena, const struct idempotency_record *record,
                                   struct slice *ret_bytes)
{
    errata_record_IdempotencyRow message = {
        .first_seq = record->first_seq,
        .count = record->count,
    };

    if (UNEXPECTED(record_is_zero(record->log_org.bytes, UUID_BYTES)) ||
        UNEXPECTED((record->first_seq == 0) != (record->count == 0))) {
        return ERR_INTERNAL;
    }
    memcpy(message.request_sha256, record->request_sha256.bytes, SHA256_BYTES);
    memcpy(message.log_org, record->log_org.bytes, UUID_BYTES);
    return record_pb_encode(arena, &errata_record_IdempotencyRow_msg, &message, ret_bytes);
}

enum err record_decode_meta(struct slice bytes, struct meta_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_MetaRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_MetaRow_msg, &message);
    if (err != OK) {
        return err;
    }
    message.value = record_take(&check, message.value);
    if (!check.failed) {
        ret_record->number = message.number;
        ret_record->bytes = message.value;
    }
    return record_check_result(&check);
}

enum err record_encode_meta(struct arena *arena, const struct meta_record *record,
                            struct slice *ret_bytes)
{
    errata_record_MetaRow message = {.number = record->number, .value = record->bytes};

    return record_pb_encode(arena, &errata_record_MetaRow_msg, &message, ret_bytes);
}
