/*
 * change.c: see change.h.
 */
#include "server/domain/mappings/change.h"

#include "server/domain/events/feedback.h"
#include "server/domain/events/payload.h"
#include "server/domain/text/sku.h"

#include <errata/v1/event.fields.h>
#include <errata/v1/feedback_event.fields.h>
#include <errata/v1/sku_mapping.views.h>

struct sku_mapping_view mapping_view_of(struct org_id org, const struct mapping_record *record)
{
    return (struct sku_mapping_view){
        .id = record->id,
        .org_id = org.uuid,
        .customer_id = record->customer_id,
        .customer_sku = record->customer_sku,
        .internal_sku = record->internal_sku,
        .status = (enum mapping_status)record->status,
        .confidence = record->confidence,
        .has_confidence = true,
        .support_count = record->support_count,
        .use_count = record->use_count,
        .last_used_at_us = record->last_used_at_us,
        .has_last_used_at = record->last_used_at_us != 0,
        .created_at_us = record->created_at_us,
        .has_created_at = true,
        .updated_at_us = record->updated_at_us,
        .has_updated_at = true,
    };
}

enum err mapping_change_put(struct arena *arena, struct buffer *body, uint32_t field,
                            struct org_id org, const struct mapping_change *change)
{
    struct sku_mapping_view mapping = mapping_view_of(org, &change->row.record);
    struct mapping_change_view view = {
        .has_mapping = true,
        .seq = change->row.seq,
        .version = change->row.record.version,
    };
    const struct mapping_change_internal_view internal = {.previous_seq = change->previous_seq};

    if (!view_encode(&mapping_change_internal_view_type, &internal, arena, &view.internal) ||
        !view_encode(&sku_mapping_view_type, &mapping, arena, &view.mapping)) {
        return ERR_MEMORY;
    }
    mapping_change_view_put(&view, field, body);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

static bool is_sku(struct slice text)
{
    return text.size > 0 && text.size <= SKU_BYTES_MAX;
}

static enum err read_mapping(struct slice bytes, struct mapping_record *record)
{
    struct sku_mapping_view mapping;
    enum err err = sku_mapping_view_read(bytes, &mapping);

    if (err != OK) {
        return err;
    }
    record->id = mapping.id;
    record->customer_id = mapping.customer_id;
    record->customer_sku = mapping.customer_sku;
    record->internal_sku = mapping.internal_sku;
    record->status = (uint32_t)mapping.status;
    record->confidence = mapping.confidence;
    record->support_count = mapping.support_count;
    record->use_count = mapping.use_count;
    record->last_used_at_us = mapping.last_used_at_us;
    record->created_at_us = mapping.created_at_us;
    record->updated_at_us = mapping.updated_at_us;
    return is_sku(mapping.customer_sku) && is_sku(mapping.internal_sku) &&
                   mapping.confidence >= 0 && mapping.confidence <= 1
               ? OK
               : ERR_CORRUPT;
}

static enum err read_change(struct slice bytes, struct mapping_change *change)
{
    struct mapping_change_view view;
    struct mapping_change_internal_view internal;
    enum err err = mapping_change_view_read(bytes, &view);

    if (err == OK) {
        err = mapping_change_internal_view_read(payload_internal(view.internal, bytes), &internal);
    }
    if (err != OK) {
        return err;
    }
    change->mapping = view.mapping;
    change->row.seq = view.seq;
    change->row.record.version = view.version;
    change->previous_seq = internal.previous_seq;
    return read_mapping(view.mapping, &change->row.record);
}

/* Returns the number of the field with changes in an event's facts; 0 if there is no such field. */
static uint32_t changes_field(const struct event *event)
{
    if (event->kind == EVENT_FEEDBACK) {
        return FEEDBACK_EVENT_MAPPING_CHANGES_FIELD;
    }
    return event->kind == EVENT_MAPPING_SUGGESTED ? MAPPING_SUGGESTED_CHANGE_FIELD : 0;
}

enum err mapping_changes_read(const struct event *event, struct mapping_changes *ret_changes)
{
    uint32_t wanted = changes_field(event);
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field = {0};
    enum err err = OK;

    memset(ret_changes, 0, sizeof(*ret_changes));
    if (wanted == 0) {
        return OK;
    }
    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        struct mapping_change *change = &ret_changes->items[ret_changes->count];

        if (field.number != wanted) {
            continue;
        }
        if (field.type != WIRE_BYTES || ret_changes->count == MAPPING_CHANGES_MAX ||
            read_change(field.bytes, change) != OK) {
            return ERR_CORRUPT;
        }
        change->row.record.last_seq = event->seq;
        ret_changes->count++;
    }
    if (event->kind == EVENT_MAPPING_SUGGESTED && ret_changes->count != 1) {
        return ERR_CORRUPT;
    }
    return err == ERR_NOT_FOUND ? OK : ERR_CORRUPT;
}

enum err mapping_change_read_at(struct store_txn *txn, struct org_id org, uint64_t seq,
                                uint64_t mapping_seq, struct mapping_change *ret_change,
                                struct event *ret_event)
{
    struct mapping_changes changes;
    enum err err = log_read(txn, org, seq, ret_event);

    if (err == OK) {
        err = mapping_changes_read(ret_event, &changes);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    for (size_t i = 0; i < changes.count; i++) {
        if (changes.items[i].row.seq == mapping_seq) {
            *ret_change = changes.items[i];
            return OK;
        }
    }
    return ERR_CORRUPT;
}

enum err mapping_read_past(struct store_txn *txn, struct org_id org, const struct mapping_row *row,
                           uint64_t as_of_seq, struct mapping_row *ret_past, bool *ret_is_cut)
{
    struct mapping_change change;
    struct event event;
    uint64_t seq = row->record.last_seq;

    if (row->seq > as_of_seq) {
        return ERR_NOT_FOUND;
    }
    for (unsigned steps = 0; steps < MAPPING_HISTORY_MAX && seq != 0; steps++) {
        enum err err = mapping_change_read_at(txn, org, seq, row->seq, &change, &event);

        if (err != OK) {
            return err;
        }
        if (seq <= as_of_seq) {
            *ret_past = change.row;
            return OK;
        }
        seq = change.previous_seq;
    }
    *ret_is_cut = seq != 0;
    return seq != 0 ? ERR_NOT_FOUND : ERR_CORRUPT;
}

enum err mapping_settle_past(struct store_txn *txn, struct org_id org, struct mapping_row *past)
{
    struct mapping_record *record = &past->record;
    uint64_t seq = record->last_seq;
    bool settled = false;

    record->settled_at_us = INT64_MIN;
    for (unsigned steps = 0; steps < MAPPING_HISTORY_MAX && seq != 0 && !settled; steps++) {
        struct mapping_changes changes;
        struct mapping_change change;
        struct event event;
        enum err err = mapping_change_read_at(txn, org, seq, past->seq, &change, &event);

        if (err == OK) {
            err = mapping_changes_read(&event, &changes);
        }
        if (err != OK) {
            return err;
        }
        /* The first change of a judgement is that of the judged mapping; a suggestion counts only
         * before any judgement. */
        if (event.kind == EVENT_FEEDBACK && changes.items[0].row.seq == past->seq) {
            settled = event.source != SOURCE_BACKFILL;
            record->settled_at_us = event.created_at_us > record->settled_at_us
                                        ? event.created_at_us
                                        : record->settled_at_us;
        }
        seq = change.previous_seq;
    }
    return OK;
}

enum err mapping_is_confirmation(const struct event *event, const struct mapping_row *row,
                                 bool *ret_is)
{
    struct feedback_event_view view;
    char id[UUID_TEXT_BYTES];
    enum err err = OK;

    *ret_is = false;
    if (event->kind != EVENT_FEEDBACK) {
        return OK;
    }
    err = feedback_view_read(event, &view);
    if (err == OK) {
        uuid_format(row->record.id, id);
        *ret_is = view.event_type == FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED &&
                  slice_equal(view.entity_id, slice_of(id, sizeof(id)));
    }
    return err;
}

enum err mapping_was_confirmed_since(struct store_txn *txn, struct org_id org,
                                     const struct mapping_row *row, int64_t time_us, bool *ret_was)
{
    struct mapping_change change;
    struct event event;
    uint64_t seq = row->record.last_seq;
    enum err err = OK;

    *ret_was = false;
    for (unsigned steps = 0; steps < MAPPING_HISTORY_MAX && seq != 0; steps++) {
        err = mapping_change_read_at(txn, org, seq, row->seq, &change, &event);
        if (err == OK && event.created_at_us > time_us) {
            err = mapping_is_confirmation(&event, row, ret_was);
        }
        if (err != OK || *ret_was) {
            return err;
        }
        seq = change.previous_seq;
    }
    return OK;
}
