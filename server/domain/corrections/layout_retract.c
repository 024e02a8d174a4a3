/*
 * layout_retract.c: removes a retracted event from its layout; see layout_rows.h. The head always has the marks
 * of the newest examples, so the next older mark is moved from its own row into the head.
 */
#include "server/domain/corrections/keys.h"
#include "server/domain/corrections/layout_rows_internal.h"
#include "server/domain/corrections/records.h"
#include "server/domain/events/removal.h"
#include "server/domain/layouts/family_examples.h"
#include "store/base/bytes.h"
#include "store/scan.h"

/* Records the event that had superseded an example until a retraction. */
static enum err put_freed(struct store_txn *txn, struct org_id org, const struct layout_mark *mark,
                          uint64_t retraction_seq)
{
    struct key key = key_example_freed(org, mark->seq, retraction_seq);
    uint8_t value[sizeof(mark->superseded_by_seq)];

    bytes_put_be64(value, mark->superseded_by_seq);
    return store_put(txn, TABLE_EXAMPLE_FREED, key_slice(&key), slice_of(value, sizeof(value)));
}

enum err layout_rows_unmark(struct ctx *ctx, struct store_txn *txn,
                            const struct example_place *place, uint64_t retraction_seq)
{
    struct key key = key_layout_head(place->org, &place->fingerprint);
    struct layout_mark old_mark = {.seq = place->seq};
    struct layout_mark *mark = NULL;
    struct layout_head_record head;
    enum err err = layout_head_read(ctx->arena, txn, &key, &head);

    if (err != OK) {
        return err;
    }
    mark = layout_mark_find(&head, place->seq);
    if (mark == NULL) {
        err = layout_mark_read(txn, place->org, &old_mark);
    }
    if (err == OK && mark == NULL && old_mark.superseded_by_seq == 0) {
        return OK; /* the event is not an example */
    }
    if (err == OK) {
        err = put_freed(txn, place->org, mark != NULL ? mark : &old_mark, retraction_seq);
    }
    if (err != OK) {
        return err;
    }
    if (mark == NULL) {
        old_mark.superseded_by_seq = 0;
        return layout_mark_write(ctx, txn, place->org, &old_mark);
    }
    mark->superseded_by_seq = 0;
    return layout_head_write(ctx->arena, txn, &key, &head);
}

/* Finds the newest example older than the last one with a mark in the head; ERR_NOT_FOUND if there is none. */
static enum err find_older(struct store_txn *txn, struct org_id org,
                           const struct key_fingerprint *fingerprint,
                           const struct layout_mark *last, struct layout_mark *ret_mark)
{
    struct key after = key_example(org, fingerprint, last->created_at_us, last->seq);
    const struct scan_range range = {
        .table = TABLE_EXAMPLE,
        .prefix = key_layout_prefix(org, fingerprint),
        .order = STORE_DESCENDING,
        .after = key_slice(&after),
        .rows_max = 1,
    };
    struct scan scan = {.rows_max = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    *ret_mark = (struct layout_mark){.seq = 0};
    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    if (err == OK) {
        err = key_read_example(key, &ret_mark->created_at_us, &ret_mark->seq);
    }
    scan_deinit(&scan);
    return err;
}

/* Moves the mark of the next older example into the head after a mark was removed. */
static enum err move_up(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                        const struct key_fingerprint *fingerprint, struct layout_head_record *head)
{
    struct layout_mark mark;
    enum err err = find_older(txn, org, fingerprint, &head->marks[head->mark_count - 1], &mark);

    if (err == OK) {
        err = layout_mark_read(txn, org, &mark);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    head->marks[head->mark_count] = mark;
    head->mark_count++;
    mark.superseded_by_seq = 0;
    mark.carried_count = 0;
    return layout_mark_write(ctx, txn, org, &mark);
}

enum err layout_mark_take(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                          const struct key_fingerprint *fingerprint,
                          struct layout_head_record *head, struct layout_mark *ret_mark)
{
    struct layout_mark *mark = layout_mark_find(head, event->seq);
    struct layout_mark nothing = {.seq = event->seq};
    bool was_full = head->mark_count == RECORD_MARKS_MAX;
    enum err err = OK;

    *ret_mark = nothing;
    if (mark == NULL) {
        err = layout_mark_read(txn, event->org, ret_mark);
        return err != OK ? err : layout_mark_write(ctx, txn, event->org, &nothing);
    }
    *ret_mark = *mark;
    head->mark_count--;
    memmove(mark, mark + 1, (size_t)(&head->marks[head->mark_count] - mark) * sizeof(*mark));
    return was_full ? move_up(ctx, txn, event->org, fingerprint, head) : OK;
}

/* Moves the example's row, if its content was not removed. */
static enum err retract_example(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                const struct key_fingerprint *fingerprint,
                                struct layout_head_record *head, uint64_t retraction_seq)
{
    struct key key = key_example(event->org, fingerprint, event->created_at_us, event->seq);
    struct retracted_example_record record = {.retracted_by_seq = retraction_seq};
    struct layout_mark mark;
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXAMPLE, key_slice(&key), &value);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    if (!arena_copy(ctx->arena, value, &record.row)) {
        return ERR_MEMORY;
    }
    err = store_del(txn, TABLE_EXAMPLE, key_slice(&key));
    if (err == OK) {
        err = layout_mark_take(ctx, txn, event, fingerprint, head, &mark);
    }
    if (err == OK) {
        record.superseded_by_seq = mark.superseded_by_seq;
        err = record_encode_retracted_example(ctx->arena, &record, &value);
    }
    return err != OK ? err : store_put(txn, TABLE_EXAMPLE_RETRACTED, key_slice(&key), value);
}

/* Marks the example as retracted in its layout family. */
static enum err leave_family(struct store_txn *txn, const struct event *event,
                             const struct feedback_event_view *view,
                             const struct key_fingerprint *fingerprint, uint64_t retraction_seq)
{
    const struct family_example example = {
        .fingerprint = *fingerprint,
        .annotator_kind = event->annotator,
        .created_at_us = event->created_at_us,
        .seq = event->seq,
        .retracted_by_seq = retraction_seq,
    };
    uint64_t family_seq = 0;
    enum err err = family_example_family(txn, event->org, view, &family_seq);

    return err != OK ? err : family_example_retract(txn, event->org, family_seq, &example);
}

enum err layout_rows_retract(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             const struct feedback_event_view *view, const struct event *retraction)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(view->layout_fingerprint);
    struct key key = key_layout_head(event->org, &fingerprint);
    struct layout_head_record head;
    bool is_counted = view->is_example; /* among the examples */
    enum err err = layout_head_read(ctx->arena, txn, &key, &head);

    if (err == OK && is_counted) {
        err = removal_precedes(txn, event, &is_counted);
        is_counted = !is_counted;
    }
    if (err != OK) {
        return err;
    }
    if (head.feedback_count == 0 || (is_counted && head.example_count == 0)) {
        return ERR_CORRUPT;
    }
    head.feedback_count--;
    head.updated_at_us = event_written_at_us(retraction);
    head.example_count -= is_counted ? 1 : 0;
    if (view->is_example) {
        err = leave_family(txn, event, view, &fingerprint, retraction->seq);
        if (err == OK) {
            err = retract_example(ctx, txn, event, &fingerprint, &head, retraction->seq);
        }
    }
    return err != OK ? err : layout_head_write(ctx->arena, txn, &key, &head);
}
