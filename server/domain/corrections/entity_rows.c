/*
 * entity_rows.c: see entity_rows.h. The new correction is compared with each live row in the direction of time.
 * A row stores only the fields of which its correction is still the newest; the event is read from the log. A
 * put invalidates the walk, so rows that lose a field are changed afterwards: a thousand rows of two hundred
 * names each may be read, but few are changed.
 */
#include "server/domain/corrections/entity_rows_internal.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/layouts/keys.h"
#include "store/base/assert.h"
#include "store/scan.h"

#include <stdlib.h>

/* Memory for reading one row: an event's envelope and facts, each with its dictionary. */
/* The fields of the new correction, sorted for binary search. */
struct corrected {
    struct slice names[RECORD_NAMES_MAX];
    bool gone[RECORD_NAMES_MAX]; /* a later correction changed this field too */
    size_t count;
};

/* The new correction and the result of its comparisons. */
struct meeting {
    const struct event *event;
    const struct feedback_event_view *view;
    struct corrected corrected;
    struct arena row_memory; /* emptied for each row */
    struct entity_live_row row; /* one at a time */
    uint64_t losers[ENTITY_ROWS_MAX]; /* seqs of rows that lose a field */
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

/* Returns the index of a name among the corrected fields, or their count if it is not one of them. */
static size_t find_corrected(const struct corrected *corrected, struct slice name)
{
    const struct slice *found =
        bsearch(&name, corrected->names, corrected->count, sizeof(name), compare_names);

    return found != NULL ? (size_t)(found - corrected->names) : corrected->count;
}

/* Reads a row and its event into `meeting`. */
static enum err read_row(struct store_txn *txn, struct meeting *meeting, uint64_t seq,
                         struct slice value)
{
    return entity_row_read(&meeting->row_memory, txn, meeting->event->org, seq, value,
                           &meeting->row);
}

/* Compares the new correction with a stored row. */
static enum err meet_row(struct store_txn *txn, struct meeting *meeting, struct slice key,
                         struct slice value)
{
    struct corrected *corrected = &meeting->corrected;
    struct entity_live_row *row = &meeting->row;
    bool loses = false;
    uint64_t seq = 0;
    enum err err = key_read_entity(key, &seq);

    if (err == OK) {
        err = read_row(txn, meeting, seq, value);
    }
    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < row->remaining.count && !loses; i++) {
        size_t at = find_corrected(corrected, row->remaining.items[i]);

        if (at == corrected->count) {
            continue;
        }
        /* The log's rows have smaller seqs, so at equal times the new correction is the later one. */
        if (row->created_at_us > meeting->event->created_at_us) {
            corrected->gone[at] = true;
        } else {
            loses = true;
        }
    }
    if (loses) {
        meeting->losers[meeting->loser_count] = seq;
        meeting->loser_count++;
    }
    return OK;
}

static enum err meet_rows(struct store_txn *txn, const struct key *prefix, struct meeting *meeting)
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
            err = meet_row(txn, meeting, key, value);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Moves the row of a correction that has no fields left, and marks its example as superseded. */
static enum err drop_row(struct ctx *ctx, struct store_txn *txn, const struct meeting *meeting,
                         const struct key *key)
{
    const struct entity_live_row *row = &meeting->row;
    struct example_place place = {
        .org = meeting->event->org,
        .fingerprint = key_fingerprint_of(row->layout_fingerprint),
        .created_at_us = row->created_at_us,
        .seq = row->seq,
    };
    struct slice document_id = {NULL, 0};
    bool has_layout = row->layout_fingerprint.size > 0;
    enum err err = arena_copy(ctx->arena, row->document_id, &document_id) ? OK : ERR_MEMORY;

    if (err == OK) {
        err = store_del(txn, TABLE_ENTITY, key_slice(key));
    }
    if (err == OK) {
        err =
            entity_past_put(txn, meeting->event->org, meeting->view, row->created_at_us, row->seq);
    }
    if (err != OK || !has_layout) {
        return err;
    }
    err = layout_rows_mark(ctx, txn, &place, meeting->event->seq);
    return err != OK
               ? err
               : entity_row_show(ctx, txn, &place, document_id, meeting->event, meeting->view);
}

/* Removes from the row of an older correction the fields that the new one changed; without fields, the row is
 * moved and its example is marked. */
static enum err shrink_row(struct ctx *ctx, struct store_txn *txn, struct meeting *meeting,
                           uint64_t seq)
{
    const struct event *event = meeting->event;
    const struct feedback_event_view *view = meeting->view;
    const struct entity_live_row *row = &meeting->row;
    struct key key = key_entity(event->org, view->entity_type, view->entity_id, seq);
    struct entity_record *record = arena_calloc(ctx->arena, 1, sizeof(*record));
    struct slice value = {NULL, 0};
    enum err err =
        record == NULL ? ERR_MEMORY : store_get(txn, TABLE_ENTITY, key_slice(&key), &value);

    if (err == OK) {
        err = read_row(txn, meeting, seq, value);
    }
    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < row->remaining.count; i++) {
        struct slice name = row->remaining.items[i];

        if (find_corrected(&meeting->corrected, name) == meeting->corrected.count) {
            record->remaining.items[record->remaining.count] = name;
            record->remaining.count++;
        }
    }
    ASSERT(record->remaining.count < row->remaining.count);
    if (record->remaining.count > 0) {
        return entity_row_write(ctx, txn, &key, record, SIZE_MAX);
    }
    return drop_row(ctx, txn, meeting, &key);
}

/* Puts the row of the new correction, with the fields that no later correction changed. */
static void fill_row(const struct meeting *meeting, struct entity_record *row)
{
    struct slice names = meeting->view->fields_changed.run;
    struct slice name = {NULL, 0};

    ASSERT(meeting->view->fields_changed.count <= RECORD_NAMES_MAX);
    row->remaining.count = 0;
    while (view_next(&names, &name)) {
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
    struct meeting *meeting = arena_alloc(ctx->arena, sizeof(*meeting));
    struct entity_record *row = arena_alloc(ctx->arena, sizeof(*row));
    enum err err = OK;

    if (meeting == NULL || row == NULL) {
        return ERR_MEMORY;
    }
    arena_init(&meeting->row_memory, ENTITY_ROW_BYTES_MAX);
    meeting->event = event;
    meeting->view = view;
    meeting->loser_count = 0;
    sort_corrected(view->fields_changed.run, &meeting->corrected);
    err = meet_rows(txn, &prefix, meeting);
    for (size_t i = 0; i < meeting->loser_count && err == OK; i++) {
        err = shrink_row(ctx, txn, meeting, meeting->losers[i]);
    }
    arena_deinit(&meeting->row_memory);
    if (err != OK) {
        return err;
    }
    fill_row(meeting, row);
    *ret_superseded_by_seq = row->remaining.count == 0 ? event->seq : 0;
    return row->remaining.count == 0
               ? entity_past_put(txn, event->org, view, event->created_at_us, event->seq)
               : entity_row_write(ctx, txn, &key, row, view->fields_changed.count);
}
