/*
 * entity_rows.c: see entity_rows.h. The new correction is compared with each live row in the
 * direction of time. Rows are read where they lie, and only those that lose a field are copied, since
 * a put ends a walk: a thousand rows of two hundred names each are looked at, and few are touched.
 */
#include "server/domain/corrections/entity_rows.h"

#include "server/domain/corrections/keys.h"
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/corrections/records.h"
#include "server/domain/layouts/keys.h"
#include "store/base/assert.h"
#include "store/scan.h"

#include <stdlib.h>

/* The fields of the new correction: sorted, so that one is found by halving. */
struct corrected {
    struct slice names[RECORD_NAMES_MAX];
    bool gone[RECORD_NAMES_MAX]; /* a correction that is later had the field as well */
    size_t count;
};

/* What one new correction is compared with, and what came of it. */
struct meeting {
    const struct event *event;
    const struct feedback_event_view *view;
    struct corrected corrected;
    struct entity_record row; /* decoded, one at a time */
    struct slice losers[ENTITY_ROWS_MAX]; /* rows that lose a field; copies in the arena */
    size_t loser_count;
};

static int compare_names(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void sort_corrected(struct slice fields_changed, struct corrected *corrected)
{
    struct slice name = {NULL, 0};

    corrected->count = 0;
    while (view_next(&fields_changed, &name)) {
        ASSERT(corrected->count < RECORD_NAMES_MAX);
        corrected->names[corrected->count] = name;
        corrected->count++;
    }
    memset(corrected->gone, 0, sizeof(corrected->gone));
    qsort(corrected->names, corrected->count, sizeof(struct slice), compare_names);
}

/* The place of a name among the corrected ones; their count if it is not among them. */
static size_t find_corrected(const struct corrected *corrected, struct slice name)
{
    const struct slice *found =
        bsearch(&name, corrected->names, corrected->count, sizeof(name), compare_names);

    return found != NULL ? (size_t)(found - corrected->names) : corrected->count;
}

/* Compares the new correction with a stored row. */
static enum err meet_row(struct ctx *ctx, struct meeting *meeting, struct slice value)
{
    struct corrected *corrected = &meeting->corrected;
    struct entity_record *row = &meeting->row;
    bool loses = false;
    enum err err = record_decode_entity(value, row);

    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < row->remaining.count && !loses; i++) {
        size_t at = find_corrected(corrected, row->remaining.items[i]);

        if (at == corrected->count) {
            continue;
        }
        /* Rows have smaller seqs, so of equal times the new one is the later. */
        if (row->created_at_us > meeting->event->created_at_us) {
            corrected->gone[at] = true;
        } else {
            loses = true;
        }
    }
    if (!loses) {
        return OK;
    }
    if (!arena_copy(ctx->arena, value, &meeting->losers[meeting->loser_count])) {
        return ERR_MEMORY;
    }
    meeting->loser_count++;
    return OK;
}

static enum err meet_rows(struct ctx *ctx, struct store_txn *txn, const struct key *prefix,
                          struct meeting *meeting)
{
    const struct scan_range range = {
        .table = TABLE_ENTITY,
        .prefix = *prefix,
        .rows_max = ENTITY_ROWS_MAX,
    };
    struct scan scan;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = meet_row(ctx, meeting, value);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err write_row(struct ctx *ctx, struct store_txn *txn, const struct key *key,
                          const struct entity_record *record)
{
    struct slice value = {NULL, 0};
    enum err err = record_encode_entity(ctx->arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_ENTITY, key_slice(key), value);
}

/* An older correction lost fields to the new one: its row shrinks, or goes with a mark. */
static enum err shrink_row(struct ctx *ctx, struct store_txn *txn, struct meeting *meeting,
                           struct slice value)
{
    const struct event *event = meeting->event;
    const struct feedback_event_view *view = meeting->view;
    struct entity_record *row = &meeting->row;
    struct example_place place = {.org = event->org};
    struct key key;
    size_t kept = 0;
    enum err err = record_decode_entity(value, row);

    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < row->remaining.count; i++) {
        struct slice name = row->remaining.items[i];

        if (find_corrected(&meeting->corrected, name) == meeting->corrected.count) {
            row->remaining.items[kept] = name;
            kept++;
        }
    }
    row->remaining.count = kept;
    key = key_entity(event->org, view->entity_type, view->entity_id, row->seq);
    if (kept > 0) {
        return write_row(ctx, txn, &key, row);
    }
    err = store_del(txn, TABLE_ENTITY, key_slice(&key));
    if (err != OK || row->fingerprint.size != sizeof(place.fingerprint.bytes)) {
        return err;
    }
    place.created_at_us = row->created_at_us;
    place.seq = row->seq;
    memcpy(place.fingerprint.bytes, row->fingerprint.data, sizeof(place.fingerprint.bytes));
    return layout_rows_mark(ctx, txn, &place, event->seq);
}

/* The row of the new correction: its fields, and those that no later one had. */
static void fill_row(const struct meeting *meeting, const struct key_fingerprint *fingerprint,
                     struct entity_record *row)
{
    const struct feedback_event_view *view = meeting->view;
    struct slice names = view->fields_changed.run;
    struct slice name = {NULL, 0};

    ASSERT(view->fields_changed.count <= RECORD_NAMES_MAX);
    memset(row, 0, sizeof(*row));
    row->seq = meeting->event->seq;
    row->created_at_us = meeting->event->created_at_us;
    if (view->is_example) {
        row->fingerprint = slice_of(fingerprint->bytes, sizeof(fingerprint->bytes));
    }
    while (view_next(&names, &name)) {
        row->fields.items[row->fields.count] = name;
        row->fields.count++;
        if (!meeting->corrected.gone[find_corrected(&meeting->corrected, name)]) {
            row->remaining.items[row->remaining.count] = name;
            row->remaining.count++;
        }
    }
}

enum err entity_rows_add(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                         const struct feedback_event_view *view, uint64_t *ret_superseded_by_seq)
{
    struct key prefix = key_entity_prefix(event->org, view->entity_type, view->entity_id);
    struct key key = key_entity(event->org, view->entity_type, view->entity_id, event->seq);
    struct key_fingerprint fingerprint = key_fingerprint_of(view->layout_fingerprint);
    struct meeting *meeting = arena_alloc(ctx->arena, sizeof(*meeting));
    enum err err = OK;

    if (meeting == NULL) {
        return ERR_MEMORY;
    }
    meeting->event = event;
    meeting->view = view;
    meeting->loser_count = 0;
    sort_corrected(view->fields_changed.run, &meeting->corrected);
    err = meet_rows(ctx, txn, &prefix, meeting);
    for (size_t i = 0; i < meeting->loser_count && err == OK; i++) {
        err = shrink_row(ctx, txn, meeting, meeting->losers[i]);
    }
    if (err != OK) {
        return err;
    }
    fill_row(meeting, &fingerprint, &meeting->row);
    *ret_superseded_by_seq = meeting->row.remaining.count == 0 ? event->seq : 0;
    return meeting->row.remaining.count == 0 ? OK : write_row(ctx, txn, &key, &meeting->row);
}
