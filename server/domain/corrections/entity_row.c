/*
 * entity_row.c: one row of a correction of an entity; see entity_rows_internal.h. A row stores only the fields
 * of which the correction is still the newest; everything else is read from its event in the log.
 */
#include "server/domain/corrections/document_rows.h"
#include "server/domain/corrections/entity_rows_internal.h"
#include "server/domain/corrections/keys.h"
#include "store/base/assert.h"

/* Reads the event of a row. */
static enum err read_event(struct arena *memory, struct store_txn *txn, struct org_id org,
                           uint64_t seq, struct event *ret_event)
{
    struct key key = key_event(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EVENT, key_slice(&key), &value);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    arena_reset(memory);
    return log_decode(memory, org, seq, value, ret_event);
}

static void take_names(struct slice run, struct record_names *names)
{
    struct slice name = {NULL, 0};

    names->count = 0;
    while (view_next(&run, &name)) {
        ASSERT(names->count < RECORD_NAMES_MAX);
        names->items[names->count] = name;
        names->count++;
    }
}

/* Events of a store format below 5 do not record it. It is false then: the mark of an event that is not an
 * example is never read. An event whose content was removed has no rows to mark. */
static bool may_be_example(const struct event *event, const struct feedback_event_view *view)
{
    return (view->is_example || !view->has_is_example) && !event->content_removed;
}

enum err entity_row_read(struct arena *memory, struct store_txn *txn, struct org_id org,
                         uint64_t seq, struct slice value, struct entity_live_row *ret_row)
{
    struct feedback_event_view view;
    struct entity_record record;
    struct event event;
    enum err err = record_decode_entity(value, &record);

    if (err == OK) {
        err = read_event(memory, txn, org, seq, &event);
    }
    if (err == OK) {
        err = feedback_view_read(&event, &view);
    }
    if (err != OK) {
        return err;
    }
    ret_row->seq = seq;
    ret_row->created_at_us = event.created_at_us;
    ret_row->layout_fingerprint =
        may_be_example(&event, &view) ? view.layout_fingerprint : slice_of(NULL, 0);
    ret_row->document_id = view.document_id;
    ret_row->fields_changed = view.fields_changed.run;
    ret_row->field_count = view.fields_changed.count;
    if (record.remaining.count > 0) {
        ret_row->remaining = record.remaining;
    } else {
        take_names(view.fields_changed.run, &ret_row->remaining);
    }
    return OK;
}

enum err entity_row_write(struct ctx *ctx, struct store_txn *txn, const struct key *key,
                          struct entity_record *record, size_t field_count)
{
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (record->remaining.count == field_count) {
        record->remaining.count = 0;
    }
    err = record_encode_entity(ctx->arena, record, &value);
    return err != OK ? err : store_put(txn, TABLE_ENTITY, key_slice(key), value);
}

/* Returns whether apply also rewrites the example of the document for the event. */
static bool is_own_document(const struct event *event, const struct feedback_event_view *view,
                            const struct document_change *change)
{
    struct key_fingerprint own = key_fingerprint_of(view->layout_fingerprint);

    return view->is_example && !event->content_removed &&
           slice_equal(view->document_id, change->document_id) &&
           memcmp(&own, &change->fingerprint, sizeof(own)) == 0;
}

enum err entity_row_show(struct ctx *ctx, struct store_txn *txn, const struct example_place *place,
                         struct slice document_id, const struct event *event,
                         const struct feedback_event_view *view)
{
    const struct document_change change = {
        .org = place->org,
        .fingerprint = place->fingerprint,
        .document_id = document_id,
        .place = {place->created_at_us, place->seq},
    };

    return document_id.size == 0 || is_own_document(event, view, &change)
               ? OK
               : document_rows_rewrite(ctx, txn, &change);
}

enum err entity_past_put(struct store_txn *txn, struct org_id org,
                         const struct feedback_event_view *view, int64_t created_at_us,
                         uint64_t seq)
{
    const struct slice nothing = {NULL, 0};
    struct key key = key_entity_past(org, view->entity_type, view->entity_id, created_at_us, seq);

    return store_put(txn, TABLE_ENTITY_PAST, key_slice(&key), nothing);
}
