/*
 * apply.c: applies the events of reviews: a review is added to its run and to the lists of its subcategory and of all
 * reviews.
 */
#include "server/domain/reviews/citations.h"
#include "server/domain/reviews/fragment_sets.h"
#include "server/domain/reviews/items.h"
#include "server/domain/reviews/runs.h"
#include "server/domain/reviews/thresholds.h"
#include "store/base/assert.h"
#include "store/log.h"

#include <errata/v1/review.views.h>
#include <event_apply.h>

static enum review_answer answer_of(bool has, bool value)
{
    if (!has) {
        return REVIEW_ABSENT;
    }
    return value ? REVIEW_TRUE : REVIEW_FALSE;
}

static struct review_record record_of(const struct review_view *view)
{
    return (struct review_record){
        .decision = (uint32_t)view->decision,
        .subcategory = view->subcategory,
        .flags = {[REVIEW_INFORMATION_PRESENT] =
                      answer_of(view->has_information_present, view->information_present),
                  [REVIEW_BAD_FORMAT] = answer_of(view->has_bad_format, view->bad_format),
                  [REVIEW_WRONG_INFORMATION] =
                      answer_of(view->has_wrong_information, view->wrong_information),
                  [REVIEW_WRONG_PHYSICAL_DIMENSIONS] = answer_of(
                      view->has_wrong_physical_dimensions, view->wrong_physical_dimensions)},
        .missing_spec = view->missing_spec.run,
        .reviewed_by = view->reviewed_by,
        .reviews_needed = view->reviews_needed,
    };
}

/* Adds the review to the lists that name its run. */
static enum err put_lists(struct store_txn *txn, const struct event *event,
                          const struct review_view *view, const struct review_run_hash *run)
{
    struct slice value = slice_of(run->bytes, sizeof(run->bytes));
    struct key key = key_review_time(event->org, event->created_at_us, event->seq);
    enum err err = store_put(txn, TABLE_REVIEW_TIME, key_slice(&key), value);

    if (err != OK) {
        return err;
    }
    key = key_review_subcategory(event->org, view->subcategory, event->created_at_us, event->seq);
    return store_put(txn, TABLE_REVIEW_SUBCATEGORY, key_slice(&key), value);
}

static enum err apply_submitted(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct review_run_hash run;
    struct review_record record;
    struct review_view view;
    struct slice value = {NULL, 0};
    struct key key;
    enum err err = review_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    run = review_run_hash_of(view.run_id);
    record = record_of(&view);
    err = record_encode_review(ctx->arena, &record, &value);
    if (err == OK) {
        key = key_review(event->org, &run, event->created_at_us, event->seq);
        err = store_put(txn, TABLE_REVIEW, key_slice(&key), value);
    }
    if (err == OK) {
        err = put_lists(txn, event, &view, &run);
    }
    if (err == OK && view.has_item_snapshot) {
        err = run_item_enter(txn, event->org, &run, event->seq, 0);
    }
    if (err == OK) {
        err = review_citations_count(ctx, txn, event, &view, 1);
    }
    return err != OK ? err : review_run_refresh(ctx->arena, txn, event->org, view.run_id, 1);
}

enum err reviews_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    ASSERT(reviews_applies(event->kind));
    if (event->kind == EVENT_RUN_ITEM_PUT) {
        return run_item_apply(ctx, txn, event);
    }
    if (event->kind == EVENT_FRAGMENT_SET_PUT || event->kind == EVENT_FRAGMENT_SET_APPROVED) {
        return fragment_set_apply(ctx, txn, event);
    }
    return event->kind == EVENT_TRIGGER_THRESHOLDS_SET ? review_thresholds_apply(ctx, txn, event)
                                                       : apply_submitted(ctx, txn, event);
}
