/*
 * change.c: see change.h.
 */
#include "server/domain/mappings/change.h"

#include "server/domain/corrections/view.h"
#include "server/domain/mappings/nest.h"
#include "server/domain/text/sku.h"
#include "store/base/wire.h"

#include <errata/v1/feedback_event.fields.h>
#include <errata/v1/learning_service.fields.h>

/* Where a text of a mapping goes; NULL for a field that is none. */
static struct slice *text_of(struct mapping_record *record, uint32_t number)
{
    switch (number) {
    case SKU_MAPPING_CUSTOMER_ID_FIELD:
        return &record->customer_id;
    case SKU_MAPPING_CUSTOMER_SKU_FIELD:
        return &record->customer_sku;
    case SKU_MAPPING_INTERNAL_SKU_FIELD:
        return &record->internal_sku;
    default:
        return NULL;
    }
}

static int64_t *time_of(struct mapping_record *record, uint32_t number)
{
    switch (number) {
    case SKU_MAPPING_LAST_USED_AT_FIELD:
        return &record->last_used_at_us;
    case SKU_MAPPING_CREATED_AT_FIELD:
        return &record->created_at_us;
    case SKU_MAPPING_UPDATED_AT_FIELD:
        return &record->updated_at_us;
    default:
        return NULL;
    }
}

static void put_fields(struct buffer *message, struct org_id org,
                       const struct mapping_record *record)
{
    char id[UUID_TEXT_BYTES];
    char org_text[UUID_TEXT_BYTES];

    uuid_format(record->id, id);
    uuid_format(org.uuid, org_text);
    wire_put_bytes(message, SKU_MAPPING_ID_FIELD, slice_of(id, sizeof(id)));
    wire_put_bytes(message, SKU_MAPPING_ORG_ID_FIELD, slice_of(org_text, sizeof(org_text)));
    wire_put_bytes(message, SKU_MAPPING_CUSTOMER_ID_FIELD, record->customer_id);
    wire_put_bytes(message, SKU_MAPPING_CUSTOMER_SKU_FIELD, record->customer_sku);
    wire_put_bytes(message, SKU_MAPPING_INTERNAL_SKU_FIELD, record->internal_sku);
    wire_put_varint(message, SKU_MAPPING_STATUS_FIELD, record->status);
    wire_put_double(message, SKU_MAPPING_CONFIDENCE_FIELD, record->confidence);
    wire_put_varint_given(message, SKU_MAPPING_SUPPORT_COUNT_FIELD, record->support_count);
    wire_put_varint_given(message, SKU_MAPPING_USE_COUNT_FIELD, record->use_count);
    if (record->last_used_at_us != 0) {
        wire_put_timestamp(message, SKU_MAPPING_LAST_USED_AT_FIELD, record->last_used_at_us);
    }
    wire_put_timestamp(message, SKU_MAPPING_CREATED_AT_FIELD, record->created_at_us);
    wire_put_timestamp(message, SKU_MAPPING_UPDATED_AT_FIELD, record->updated_at_us);
}

void mapping_put(struct buffer *body, uint32_t field, struct org_id org,
                 const struct mapping_record *record)
{
    size_t start = body->size;

    put_fields(body, org, record);
    nest_fields(body, field, start);
}

void mapping_change_put(struct buffer *body, uint32_t field, struct org_id org,
                        const struct mapping_change *change)
{
    size_t start = body->size;

    mapping_put(body, MAPPING_CHANGE_MAPPING_FIELD, org, &change->row.record);
    wire_put_varint(body, MAPPING_CHANGE_SEQ_FIELD, change->row.seq);
    wire_put_varint(body, MAPPING_CHANGE_VERSION_FIELD, change->row.record.version);
    wire_put_varint_given(body, MAPPING_CHANGE_PREVIOUS_SEQ_FIELD, change->previous_seq);
    nest_fields(body, field, start);
}

static enum err read_number(struct mapping_record *record, const struct wire_field *field)
{
    switch (field->number) {
    case SKU_MAPPING_STATUS_FIELD:
        record->status = (uint32_t)field->value;
        return OK;
    case SKU_MAPPING_CONFIDENCE_FIELD:
        memcpy(&record->confidence, &field->value, sizeof(record->confidence));
        return field->type == WIRE_FIXED64 ? OK : ERR_CORRUPT;
    case SKU_MAPPING_SUPPORT_COUNT_FIELD:
        record->support_count = field->value;
        return OK;
    case SKU_MAPPING_USE_COUNT_FIELD:
        record->use_count = field->value;
        return OK;
    default:
        return OK; /* a later version's field */
    }
}

static enum err read_mapping_field(struct mapping_record *record, const struct wire_field *field)
{
    struct slice *text = text_of(record, field->number);
    int64_t *time = time_of(record, field->number);

    if (text != NULL) {
        *text = field->bytes;
        return field->type == WIRE_BYTES ? OK : ERR_CORRUPT;
    }
    if (time != NULL) {
        return field->type == WIRE_BYTES ? wire_read_timestamp(field->bytes, time) : ERR_CORRUPT;
    }
    if (field->number == SKU_MAPPING_ID_FIELD) {
        return field->type == WIRE_BYTES && uuid_parse(field->bytes, &record->id) ? OK
                                                                                  : ERR_CORRUPT;
    }
    return field->type == WIRE_BYTES ? OK : read_number(record, field);
}

static bool is_sku(struct slice text)
{
    return text.size > 0 && text.size <= SKU_BYTES_MAX;
}

static bool holds(const struct mapping_record *record)
{
    return record->customer_id.size > 0 && is_sku(record->customer_sku) &&
           is_sku(record->internal_sku) && record->status >= MAPPING_STATUS_SUGGESTED &&
           record->status <= MAPPING_STATUS_SUPERSEDED && record->confidence >= 0 &&
           record->confidence <= 1;
}

static enum err read_mapping(struct slice bytes, struct mapping_record *record)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        err = read_mapping_field(record, &field);
        if (err != OK) {
            return ERR_CORRUPT;
        }
    }
    return err == ERR_NOT_FOUND && holds(record) ? OK : ERR_CORRUPT;
}

static enum err read_change(struct slice bytes, struct mapping_change *change)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == MAPPING_CHANGE_MAPPING_FIELD) {
            change->mapping = field.bytes;
        } else if (field.number == MAPPING_CHANGE_SEQ_FIELD) {
            change->row.seq = field.value;
        } else if (field.number == MAPPING_CHANGE_VERSION_FIELD) {
            change->row.record.version = (uint32_t)field.value;
        } else if (field.number == MAPPING_CHANGE_PREVIOUS_SEQ_FIELD) {
            change->previous_seq = field.value;
        }
    }
    if (err != ERR_NOT_FOUND || change->row.seq == 0 || change->row.record.version == 0) {
        return ERR_CORRUPT;
    }
    return read_mapping(change->mapping, &change->row.record);
}

/* The field of an event's facts that has changes; 0: it has none. */
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

/* What the event `seq` changed about a mapping, and the event. */
static enum err read_change_at(struct store_txn *txn, struct org_id org, uint64_t seq,
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
        enum err err = read_change_at(txn, org, seq, row->seq, &change, &event);

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

/* Whether an event is the confirmation of a mapping; it may tell of one that it superseded too. */
static enum err is_confirmation_of(const struct event *event, const struct mapping_row *row,
                                   bool *ret_is)
{
    struct feedback_view view;
    char id[UUID_TEXT_BYTES];
    enum err err = OK;

    *ret_is = false;
    if (event->kind != EVENT_FEEDBACK) {
        return OK;
    }
    err = feedback_view_read(event, &view);
    if (err == OK) {
        uuid_format(row->record.id, id);
        *ret_is = view.event_type == EVENT_TYPE_MAPPING_CONFIRMED &&
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
        err = read_change_at(txn, org, seq, row->seq, &change, &event);
        if (err == OK && event.created_at_us > time_us) {
            err = is_confirmation_of(&event, row, ret_was);
        }
        if (err != OK || *ret_was) {
            return err;
        }
        seq = change.previous_seq;
    }
    return OK;
}
