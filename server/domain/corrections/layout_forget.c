/*
 * layout_forget.c: removes the example of an event whose content was removed; see layout_rows_forget in
 * layout_rows.h. After it, the rows are those of a replay, in which the event never had content.
 */
#include "server/domain/corrections/keys.h"
#include "server/domain/corrections/layout_rows_internal.h"
#include "server/domain/events/retraction.h"
#include "server/domain/layouts/family_examples.h"
#include "store/scan.h"

/* Deletes the first row of an example in TABLE_EXAMPLE_FREED; ERR_NOT_FOUND if it has none. */
static enum err delete_freed(struct store_txn *txn, struct org_id org, uint64_t seq)
{
    const struct scan_range range = {
        .table = TABLE_EXAMPLE_FREED,
        .prefix = key_example_freed_prefix(org, seq),
        .rows_max = 1,
    };
    struct scan scan = {.rows_max = 0};
    struct key key = {.size = 0};
    struct slice found = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    if (err == OK) {
        err = scan_next(&scan, &found, &value);
    }
    if (err == OK) {
        key_put_bytes(&key, found.data, found.size);
    }
    scan_deinit(&scan);
    return err != OK ? err : store_del(txn, TABLE_EXAMPLE_FREED, key_slice(&key));
}

/* Deletes all of them: one for each retraction that freed the example. */
static enum err delete_all_freed(struct store_txn *txn, struct org_id org, uint64_t seq)
{
    enum err err = OK;

    while (err == OK) {
        err = delete_freed(txn, org, seq);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Deletes the example's row and mark, if it was not retracted. */
static enum err forget_current(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                               const struct key_fingerprint *fingerprint,
                               struct layout_head_record *head)
{
    struct key key = key_example(event->org, fingerprint, event->created_at_us, event->seq);
    struct layout_mark mark;
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXAMPLE, key_slice(&key), &value);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    err = store_del(txn, TABLE_EXAMPLE, key_slice(&key));
    return err != OK ? err : layout_mark_take(ctx, txn, event, fingerprint, head, &mark);
}

/* Deletes the example's rows. */
static enum err forget_example(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                               const struct key_fingerprint *fingerprint,
                               struct layout_head_record *head)
{
    struct key key = key_example(event->org, fingerprint, event->created_at_us, event->seq);
    enum err err = forget_current(ctx, txn, event, fingerprint, head);

    if (err == OK) {
        err = store_del_if_present(txn, TABLE_EXAMPLE_RETRACTED, key_slice(&key));
    }
    return err != OK ? err : delete_all_freed(txn, event->org, event->seq);
}

enum err layout_rows_forget(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                            const struct feedback_event_view *view)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(view->layout_fingerprint);
    struct key key = key_layout_head(event->org, &fingerprint);
    const struct family_example example = {.fingerprint = fingerprint,
                                           .annotator_kind = event->annotator,
                                           .created_at_us = event->created_at_us,
                                           .seq = event->seq};
    struct layout_head_record head;
    uint64_t retraction_seq = 0;
    enum err err = layout_head_read(ctx->arena, txn, &key, &head);

    if (err == OK) {
        err = retraction_find(txn, event->org, event->seq, &retraction_seq);
    }
    if (err == OK && retraction_seq == 0) {
        err = head.example_count == 0 ? ERR_CORRUPT : OK;
        head.example_count--;
    }
    if (err == OK) {
        err = forget_example(ctx, txn, event, &fingerprint, &head);
    }
    if (err == OK) {
        err = family_example_forget(txn, event->org, view, &example);
    }
    return err != OK ? err : layout_head_write(ctx->arena, txn, &key, &head);
}
