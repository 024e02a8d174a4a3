/*
 * settings.c: see settings.h. A change reads what stands, lays the change over it, and appends both
 * whole: so the answer, the row and the history come from the event alone.
 */
#include "server/domain/settings/settings.h"

#include "store/base/wire.h"
#include "store/record.h"

#include <errata/v1/admin_service.fields.h>
#include <errata/v1/learning_service.fields.h>

/* What all settings take on the wire, generously. */
#define SETTINGS_BYTES 32
#define HOLDOUT_PERCENT_MAX 100

static const struct settings defaults = {SETTINGS_HOLDOUT_PERCENT_DEFAULT,
                                         SETTINGS_MATCH_MODE_DEFAULT};

/* The settings, and the number of the change that made them: 0, and the defaults, where none did. */
static enum err read_row(struct store_txn *txn, struct org_id org, struct settings *ret_settings,
                         uint64_t *ret_seq)
{
    struct key key = key_settings(org);
    struct settings settings = defaults;
    struct settings_record record;
    struct slice bytes;
    enum err err = store_get(txn, TABLE_SETTINGS, key_slice(&key), &bytes);

    if (err == ERR_NOT_FOUND) {
        *ret_settings = settings;
        *ret_seq = 0;
        return OK;
    }
    if (err == OK) {
        err = record_decode_settings(bytes, &record);
    }
    if (err != OK) {
        return err;
    }
    *ret_seq = record.seq;
    settings.holdout_percent = record.holdout_percent;
    if (!match_mode_from_wire((int32_t)record.match_mode, &settings.match_mode) ||
        settings.match_mode == MATCH_MODE_UNSPECIFIED) {
        return ERR_CORRUPT;
    }
    *ret_settings = settings;
    return OK;
}

enum err settings_read(struct store_txn *txn, struct org_id org, struct settings *ret_settings)
{
    uint64_t seq = 0;

    return read_row(txn, org, ret_settings, &seq);
}

/* The members of an OrganizationSettings: all of them, those with their default value too. */
static void put_members(struct buffer *buffer, const struct settings *settings)
{
    wire_put_varint(buffer, ORGANIZATION_SETTINGS_HOLDOUT_PERCENT_FIELD, settings->holdout_percent);
    wire_put_varint(buffer, ORGANIZATION_SETTINGS_MATCH_MODE_FIELD, (uint64_t)settings->match_mode);
}

/* How many bytes wire_put_varint writes. */
static size_t varint_field_bytes(uint32_t field, uint64_t value)
{
    return wire_varint_bytes((uint64_t)field << 3) + wire_varint_bytes(value);
}

void settings_write(struct buffer *body, uint32_t field, const struct settings *settings)
{
    size_t size =
        varint_field_bytes(ORGANIZATION_SETTINGS_HOLDOUT_PERCENT_FIELD, settings->holdout_percent) +
        varint_field_bytes(ORGANIZATION_SETTINGS_MATCH_MODE_FIELD, (uint64_t)settings->match_mode);

    wire_put_header(body, field, size);
    put_members(body, settings);
}

/* Takes one member of a stored OrganizationSettings over; false where it is not what it must be. */
static bool take_member(const struct wire_field *field, struct settings *settings)
{
    if (field->number == ORGANIZATION_SETTINGS_HOLDOUT_PERCENT_FIELD) {
        settings->holdout_percent = (uint32_t)field->value;
        return field->type == WIRE_VARINT && field->value <= HOLDOUT_PERCENT_MAX;
    }
    if (field->number == ORGANIZATION_SETTINGS_MATCH_MODE_FIELD) {
        return field->type == WIRE_VARINT && field->value <= INT32_MAX &&
               match_mode_from_wire((int32_t)field->value, &settings->match_mode) &&
               settings->match_mode != MATCH_MODE_UNSPECIFIED;
    }
    return true; /* a later version's member */
}

/* The bytes of the settings that an event left. */
static enum err find_after(const struct event *event, struct slice *ret_bytes)
{
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field;

    if (event->kind != EVENT_SETTINGS_UPDATED) {
        return ERR_CORRUPT;
    }
    while (wire_next(&reader, &field) == OK) {
        if (field.number == SETTINGS_UPDATED_AFTER_FIELD && field.type == WIRE_BYTES) {
            *ret_bytes = field.bytes;
            return OK;
        }
    }
    return ERR_CORRUPT;
}

/* The settings that an event left. */
static enum err read_after(const struct event *event, struct settings *ret_settings)
{
    struct settings settings = defaults;
    struct wire_reader reader;
    struct wire_field field;
    struct slice after;
    enum err err = find_after(event, &after);

    if (err != OK) {
        return err;
    }
    reader = wire_reader_of(after);
    while ((err = wire_next(&reader, &field)) == OK) {
        if (!take_member(&field, &settings)) {
            return ERR_CORRUPT;
        }
    }
    if (err != ERR_NOT_FOUND) {
        return ERR_CORRUPT;
    }
    *ret_settings = settings;
    return OK;
}

/* The number of the change before an event's; 0 where there is none. */
static enum err read_previous(const struct event *event, uint64_t *ret_seq)
{
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field;

    *ret_seq = 0;
    while (wire_next(&reader, &field) == OK) {
        if (field.number == SETTINGS_UPDATED_PREVIOUS_SEQ_FIELD && field.type == WIRE_VARINT) {
            *ret_seq = field.value;
        }
    }
    return event->kind == EVENT_SETTINGS_UPDATED && *ret_seq < event->seq ? OK : ERR_CORRUPT;
}

enum err settings_read_as_of(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                             struct settings *ret_settings)
{
    struct event event;
    uint64_t seq = 0;
    enum err err = read_row(txn, org, ret_settings, &seq);

    if (err != OK || seq <= as_of_seq) {
        return err;
    }
    while (err == OK && seq > as_of_seq) {
        err = log_read(txn, org, seq, &event);
        if (err == OK) {
            err = read_previous(&event, &seq); /* each is smaller than the one before */
        }
    }
    if (err == OK && seq == 0) {
        *ret_settings = defaults;
        return OK;
    }
    if (err == OK) {
        err = log_read(txn, org, seq, &event);
    }
    return err != OK ? err : read_after(&event, ret_settings);
}

enum err settings_append_after(struct buffer *body, uint32_t field, const struct event *event)
{
    struct slice after;
    enum err err = find_after(event, &after);

    if (err != OK) {
        return err;
    }
    wire_put_bytes(body, field, after);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err settings_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct key key = key_settings(event->org);
    struct settings settings;
    struct settings_record record;
    struct slice bytes;
    enum err err = read_after(event, &settings);

    if (err != OK) {
        return err;
    }
    record = (struct settings_record){
        .seq = event->seq,
        .holdout_percent = settings.holdout_percent,
        .match_mode = (uint32_t)settings.match_mode,
    };
    err = record_encode_settings(ctx->arena, &record, &bytes);
    return err != OK ? err : store_put(txn, TABLE_SETTINGS, key_slice(&key), bytes);
}

/* ERR_NOT_FOUND for an organisation that is not there: its first event makes it. */
static enum err check_org(struct ctx *ctx, struct store_txn *txn, struct org_id org)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    if (err == OK && head.last_seq == 0) {
        return fault_say(ctx->fault, ERR_NOT_FOUND, "no such organisation");
    }
    return err;
}

/* The facts: a SettingsUpdated. */
static enum err encode_facts(struct arena *arena, const struct settings *before,
                             uint64_t previous_seq, const struct settings *after,
                             struct slice *ret_facts)
{
    struct buffer buffer;

    buffer_init(&buffer, arena, 2 * SETTINGS_BYTES);
    settings_write(&buffer, SETTINGS_UPDATED_BEFORE_FIELD, before);
    settings_write(&buffer, SETTINGS_UPDATED_AFTER_FIELD, after);
    wire_put_varint_given(&buffer, SETTINGS_UPDATED_PREVIOUS_SEQ_FIELD, previous_seq);
    *ret_facts = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

/* Appends the event of a change and applies it. */
static enum err append(struct ctx *ctx, struct store_txn *txn, struct event_draft *draft,
                       uint64_t *ret_seq)
{
    char org_text[UUID_TEXT_BYTES];
    struct event event;
    enum err err = log_next_stamp(ctx, txn, draft->org, &draft->stamp);

    uuid_format(draft->org.uuid, org_text);
    draft->created_at_us = draft->stamp.created_at_us;
    draft->subjects[0] =
        (struct event_subject){SUBJECT_ORGANIZATION, slice_of(org_text, sizeof(org_text))};
    draft->subject_count = 1;
    if (err == OK) {
        err = log_append(ctx, txn, draft, &event);
    }
    if (err == OK) {
        err = settings_apply(ctx, txn, &event);
    }
    if (err == OK) {
        *ret_seq = event.seq;
    }
    return err;
}

enum err settings_update(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         struct slice actor_user_id, const struct settings_change *change,
                         uint64_t *ret_seq)
{
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_SETTINGS_UPDATED,
        .annotator = change->by_program ? ANNOTATOR_CODE : ANNOTATOR_HUMAN,
        .source = SOURCE_LIVE,
        .actor_user_id = actor_user_id,
    };
    struct settings before;
    struct settings after;
    uint64_t previous_seq = 0;
    enum err err = check_org(ctx, txn, org);

    if (err == OK) {
        err = read_row(txn, org, &before, &previous_seq);
    }
    if (err != OK) {
        return err;
    }
    after = before;
    if (change->has_holdout_percent) {
        after.holdout_percent = change->holdout_percent;
    }
    if (change->has_match_mode) {
        after.match_mode = change->match_mode;
    }
    err = encode_facts(ctx->arena, &before, previous_seq, &after, &draft.facts);
    return err != OK ? err : append(ctx, txn, &draft, ret_seq);
}
