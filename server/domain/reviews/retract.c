/*
 * retract.c: a retracted review stays in its lists, with the number of its retraction, and no longer counts in its run
 * and in windows.
 */
#include "server/domain/reviews/citations.h"
#include "server/domain/reviews/items.h"
#include "server/domain/reviews/runs.h"
#include "store/log.h"

#include <errata/v1/review.views.h>
#include <event_retract.h>

enum err reviews_check_retract(struct ctx *ctx, const struct event *event)
{
    (void)ctx;
    (void)event;
    return OK;
}

/* Writes the number of the retraction into the row of the review. */
static enum err mark(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                     const struct key *key)
{
    struct review_record record;
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_REVIEW, key_slice(key), &value);

    if (err == OK) {
        err = record_decode_review(value, &record);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (record.retracted_seq != 0) {
        return ERR_CORRUPT;
    }
    record.retracted_seq = retraction->seq;
    err = record_encode_review(ctx->arena, &record, &value);
    return err != OK ? err : store_put(txn, TABLE_REVIEW, key_slice(key), value);
}

enum err reviews_retract(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                         const struct event *event)
{
    struct review_view view;
    struct review_run_hash run;
    struct key key;
    enum err err = review_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    run = review_run_hash_of(view.run_id);
    key = key_review(event->org, &run, event->created_at_us, event->seq);
    err = mark(ctx, txn, retraction, &key);
    if (err == OK && view.has_item_snapshot) {
        err = run_item_enter(txn, event->org, &run, event->seq, retraction->seq);
    }
    if (err == OK) {
        err = review_citations_count(ctx, txn, event, &view, -1);
    }
    return err != OK ? err : review_run_refresh(ctx->arena, txn, event->org, view.run_id, 0);
}
