/*
 * example_served.c: see example_served.h.
 */
#include "server/domain/corrections/example_served.h"

#include "server/domain/corrections/example_past.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/layouts/records.h"
#include "store/base/wire.h"

#include <errata/v1/prompt_service.fields.h>

/* Reads an example that was retracted later. */
static enum err read_retracted(struct store_txn *txn, const struct key *key,
                               struct example_served *example)
{
    struct retracted_example_record retracted;
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXAMPLE_RETRACTED, key_slice(key), &value);

    if (err == OK) {
        err = record_decode_retracted_example(value, &retracted);
    }
    if (err != OK) {
        return err;
    }
    example->is_retracted = true;
    example->superseded_by_seq = retracted.superseded_by_seq;
    return record_decode_example(retracted.row, &example->record);
}

static enum err read_row(struct store_txn *txn, const struct key_fingerprint *fingerprint,
                         struct example_served *example)
{
    const struct event *event = &example->event;
    struct key key = key_example(event->org, fingerprint, event->created_at_us, event->seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXAMPLE, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        return read_retracted(txn, &key, example);
    }
    return err != OK ? err : record_decode_example(value, &example->record);
}

/* Finds the mark of an example: in the head of its layout, or in a row of its own. */
static enum err read_mark(struct store_txn *txn, const struct key_fingerprint *fingerprint,
                          struct example_served *example)
{
    const struct event *event = &example->event;
    struct key head = key_layout_head(event->org, fingerprint);
    struct key key = key_example_mark(event->org, event->seq);
    struct example_mark_record mark;
    struct layout_marks marks;
    struct slice value = {NULL, 0};
    size_t place = 0;
    enum err err = store_get(txn, TABLE_EXAMPLE, key_slice(&head), &value);

    if (err == OK) {
        err = record_decode_layout_marks(value, &marks);
    }
    if (err != OK || record_find_mark(&marks, event->seq, &place, &example->superseded_by_seq)) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    err = store_get(txn, TABLE_EXAMPLE_MARK, key_slice(&key), &value);
    if (err == OK) {
        err = record_decode_example_mark(value, &mark);
    }
    if (err == OK) {
        example->superseded_by_seq = mark.superseded_by_seq;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err example_served_find(struct store_txn *txn, struct org_id org, uint64_t seq,
                             struct example_served *ret_example)
{
    struct key_fingerprint fingerprint;
    enum err err = log_read(txn, org, seq, &ret_example->event);

    ret_example->superseded_by_seq = 0;
    ret_example->is_retracted = false;
    if (err == OK && ret_example->event.kind != EVENT_FEEDBACK) {
        err = ERR_NOT_FOUND;
    }
    if (err == OK) {
        err = feedback_view_read(&ret_example->event, &ret_example->view);
    }
    if (err != OK) {
        return err;
    }
    fingerprint = key_fingerprint_of(ret_example->view.layout_fingerprint);
    ret_example->is_expired = ret_example->event.content_removed;
    if (!ret_example->is_expired) {
        err = read_row(txn, &fingerprint, ret_example);
    }
    if (err == OK && !ret_example->is_retracted) {
        err = read_mark(txn, &fingerprint, ret_example);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Returns whether the example was superseded after the event `as_of_seq`. */
static enum err find_superseded(struct store_txn *txn, const struct example_served *example,
                                uint64_t as_of_seq, bool *ret_superseded)
{
    if (example->superseded_by_seq != 0 && example->superseded_by_seq <= as_of_seq) {
        *ret_superseded = true;
        return OK;
    }
    return example_was_superseded(txn, example->event.org, example->event.seq, as_of_seq,
                                  ret_superseded);
}

/* Encodes the example of which the event `event` is the only or the newest correction. */
static enum err encode_example(struct arena *arena, const struct event *event,
                               struct slice layout_fingerprint, struct slice fields,
                               bool superseded, struct slice *ret_example)
{
    char id[UUID_TEXT_BYTES];
    uint8_t time[WIRE_TIMESTAMP_BYTES_MAX];
    size_t time_bytes = wire_write_timestamp(time, EXAMPLE_CREATED_AT_FIELD, event->created_at_us);
    struct buffer buffer;

    uuid_format(event->id, id);
    buffer_init(&buffer, arena,
                sizeof(id) + time_bytes + layout_fingerprint.size + fields.size +
                    4 * WIRE_OVERHEAD_BYTES);
    wire_put_bytes(&buffer, EXAMPLE_ID_FIELD, slice_of(id, sizeof(id)));
    wire_put_bytes(&buffer, EXAMPLE_LAYOUT_FINGERPRINT_FIELD, layout_fingerprint);
    buffer_append(&buffer, fields);
    buffer_append(&buffer, slice_of(time, time_bytes));
    if (superseded) {
        wire_put_varint(&buffer, EXAMPLE_SUPERSEDED_FIELD, 1);
    }
    *ret_example = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

enum err example_served_encode(struct arena *arena, struct store_txn *txn,
                               const struct example_served *example, uint64_t as_of_seq,
                               struct slice *ret_example)
{
    bool superseded = false;
    enum err err = find_superseded(txn, example, as_of_seq, &superseded);

    return err != OK ? err
                     : encode_example(arena, &example->event, example->view.layout_fingerprint,
                                      example->record.example, superseded, ret_example);
}

enum err document_served_encode(struct arena *arena, const struct document_served *served,
                                struct slice *ret_example)
{
    return encode_example(arena, &served->event, served->view.layout_fingerprint,
                          served->example.record.example, served->example.superseded, ret_example);
}
