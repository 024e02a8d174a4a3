/*
 * entity_rows.c: see entity_rows.h. The new correction is compared with each live row in the
 * direction of time; rows are copied first, since a put ends a walk.
 */
#include "server/domain/corrections/entity_rows.h"

#include "server/domain/corrections/apply.h"
#include "server/domain/corrections/layout_rows.h"
#include "store/record.h"

struct live_rows {
    struct slice values[APPLY_ENTITY_ROWS_MAX]; /* copies in the arena */
    size_t count;
};

static enum err read_live_rows(struct ctx *ctx, struct store_txn *txn, const struct key *prefix,
                               struct live_rows *rows)
{
    const struct slice from_start = {NULL, 0};
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_ENTITY, key_slice(prefix), from_start,
                                     STORE_ASCENDING);

    if (err != OK) {
        return err;
    }
    while (rows->count < APPLY_ENTITY_ROWS_MAX) {
        err = store_cursor_next(&cursor, &key, &value);
        if (err != OK) {
            break;
        }
        if (!arena_copy(ctx->arena, value, &rows->values[rows->count])) {
            err = ERR_MEMORY;
            break;
        }
        rows->count++;
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Takes the names of `corrected` out of `remaining`; true where some were there. */
static bool take_out(struct record_names *remaining, const struct slice *corrected, size_t count)
{
    size_t kept = 0;
    bool changed = false;

    for (size_t i = 0; i < remaining->count; i++) {
        bool gone = false;

        for (size_t j = 0; j < count && !gone; j++) {
            gone = slice_equal(remaining->items[i], corrected[j]);
        }
        if (!gone) {
            remaining->items[kept] = remaining->items[i];
            kept++;
        }
    }
    changed = kept != remaining->count;
    remaining->count = kept;
    return changed;
}

static enum err write_row(struct ctx *ctx, struct store_txn *txn, const struct key *key,
                          const struct entity_record *record)
{
    struct slice value = {NULL, 0};
    enum err err = record_encode_entity(ctx->arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_ENTITY, key_slice(key), value);
}

/* An older correction lost fields to the new one: its row shrinks, or goes with a mark. */
static enum err shrink_row(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                           const struct feedback_view *view, const struct entity_record *row)
{
    struct key key = key_entity(event->org, view->entity_type, view->entity_id, row->seq);
    struct example_place place = {
        .org = event->org, .created_at_us = row->created_at_us, .seq = row->seq};
    enum err err = OK;

    if (row->remaining.count > 0) {
        return write_row(ctx, txn, &key, row);
    }
    err = store_del(txn, TABLE_ENTITY, key_slice(&key));
    if (err != OK || row->fingerprint.size != sizeof(place.fingerprint.bytes)) {
        return err;
    }
    memcpy(place.fingerprint.bytes, row->fingerprint.data, sizeof(place.fingerprint.bytes));
    return layout_rows_mark(ctx, txn, &place, event->seq);
}

/* Compares the new correction with one that stands. */
static enum err meet_row(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                         const struct feedback_view *view, struct slice value,
                         struct entity_record *added)
{
    struct entity_record row;
    enum err err = record_decode_entity(value, &row);

    if (err != OK) {
        return err;
    }
    /* Rows have smaller seqs, so of equal times the new one is the later. */
    if (row.created_at_us > event->created_at_us) {
        (void)take_out(&added->remaining, row.remaining.items, row.remaining.count);
        return OK;
    }
    if (!take_out(&row.remaining, view->fields.names, view->fields.count)) {
        return OK;
    }
    return shrink_row(ctx, txn, event, view, &row);
}

static void fill_row(const struct event *event, const struct feedback_view *view,
                     const struct key_fingerprint *fingerprint, struct entity_record *row)
{
    memset(row, 0, sizeof(*row));
    row->seq = event->seq;
    row->created_at_us = event->created_at_us;
    if (view->layout_fingerprint.size > 0) {
        row->fingerprint = slice_of(fingerprint->bytes, sizeof(fingerprint->bytes));
    }
    row->fields.count = view->fields.count;
    memcpy(row->fields.items, view->fields.names, view->fields.count * sizeof(struct slice));
    row->remaining = row->fields;
}

enum err entity_rows_add(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                         const struct feedback_view *view, uint64_t *ret_superseded_by_seq)
{
    struct key prefix = key_entity_prefix(event->org, view->entity_type, view->entity_id);
    struct key key = key_entity(event->org, view->entity_type, view->entity_id, event->seq);
    struct key_fingerprint fingerprint = key_fingerprint_of(view->layout_fingerprint);
    struct live_rows *rows = arena_alloc(ctx->arena, sizeof(*rows));
    struct entity_record *added = arena_alloc(ctx->arena, sizeof(*added));
    enum err err = rows == NULL || added == NULL ? ERR_MEMORY : OK;

    if (err != OK) {
        return err;
    }
    rows->count = 0;
    fill_row(event, view, &fingerprint, added);
    err = read_live_rows(ctx, txn, &prefix, rows);
    for (size_t i = 0; i < rows->count && err == OK; i++) {
        err = meet_row(ctx, txn, event, view, rows->values[i], added);
    }
    if (err != OK) {
        return err;
    }
    *ret_superseded_by_seq = added->remaining.count == 0 ? event->seq : 0;
    return added->remaining.count == 0 ? OK : write_row(ctx, txn, &key, added);
}
