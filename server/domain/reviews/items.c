/*
 * items.c: see items.h.
 */
#include "server/domain/reviews/items.h"

#include "server/domain/reviews/runs.h"

#include <errata/v1/review.views.h>
#include <errata/v1/run_item.views.h>
#include <event_apply.h>

static enum err append(struct ctx *ctx, struct store_txn *txn,
                       const struct run_item_request *request, struct event_draft *draft,
                       uint64_t *ret_seq)
{
    struct run_item_view view = {
        .org_id = request->org.uuid,
        .actor_user_id = draft->actor_user_id,
        .has_actor_user_id = draft->actor_user_id.size > 0,
        .run_id = request->run_id,
        .item_id = request->item_id,
        .has_item_id = request->item_id.size > 0,
        .has_created_at = true,
        .item_json = request->item_json,
    };
    enum err err = event_draft_stamp(ctx, txn, &request->time, draft);

    if (err != OK) {
        return err;
    }
    view.id = draft->stamp.id;
    view.created_at_us = draft->created_at_us;
    if (!view_encode_parts(&run_item_view_type, &view, ctx->arena, &draft->facts,
                           &draft->content)) {
        return ERR_MEMORY;
    }
    event_draft_add_subject(draft, SUBJECT_RUN, request->run_id);
    event_draft_add_subject(draft, SUBJECT_ITEM, request->item_id);
    return event_draft_append(ctx, txn, draft, reviews_apply, ret_seq);
}

enum err run_item_put(struct ctx *ctx, struct store_txn *txn,
                      const struct run_item_request *request, uint64_t *ret_seq)
{
    struct event_draft draft = {.org = request->org, .kind = EVENT_RUN_ITEM_PUT};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    enum err err = actor_resolve(ctx, &request->caller, SLICE("item"), request->actor_user_id,
                                 request->time.is_given, &draft.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, SLICE("item"), request->actor_user_id,
                                &annotator);
    }
    draft.annotator = (enum annotator)annotator;
    if (err == OK) {
        err = event_time_check_now(ctx, txn, request->org, &request->time, SLICE("item"));
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    return err != OK ? err : append(ctx, txn, request, &draft, ret_seq);
}

enum err run_item_enter(struct store_txn *txn, struct org_id org, const struct review_run_hash *run,
                        uint64_t seq, uint64_t retracted_seq)
{
    struct key key = key_review_item(org, run, seq);

    return log_put_id_row(txn, TABLE_REVIEW_ITEM, &key, retracted_seq);
}

enum err run_item_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct run_item_view view;
    struct review_run_hash run;
    enum err err = run_item_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    run = review_run_hash_of(view.run_id);
    err = run_item_enter(txn, event->org, &run, event->seq, 0);
    return err != OK ? err : review_run_refresh(ctx->arena, txn, event->org, view.run_id, 0);
}

enum err run_item_latest(struct store_txn *txn, struct org_id org,
                         const struct review_run_hash *run, uint64_t as_of_seq, uint64_t *ret_seq)
{
    struct key prefix = key_review_prefix(org, run);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_REVIEW_ITEM, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    *ret_seq = 0;
    while (err == OK && *ret_seq == 0) {
        uint64_t retracted_seq = 0;
        uint64_t seq = 0;

        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK) {
            err = key_read_review_item(key, &seq);
        }
        if (err == OK) {
            err = log_read_id_row(value, &retracted_seq);
        }
        if (err == OK && seq <= as_of_seq && (retracted_seq == 0 || retracted_seq > as_of_seq)) {
            *ret_seq = seq;
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns the latest item of the run of a row, if the run counted as reviewed by the review with this key. */
static enum err item_of_row(struct arena *arena, struct store_txn *txn,
                            const struct review_window_query *query, struct slice key,
                            struct slice value, uint64_t *ret_seq)
{
    struct review_run_state state;
    struct review_run_hash run;
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = value.size == sizeof(run.bytes)
                       ? key_read_newest_first(key, &created_at_us, &seq)
                       : ERR_CORRUPT;

    *ret_seq = 0;
    if (err != OK || seq > query->as_of_seq) {
        return err;
    }
    memcpy(run.bytes, value.data, sizeof(run.bytes));
    err = review_run_read_state(arena, txn, query->org, &run, query->as_of_seq, &state);
    if (err != OK || state.newest.seq != seq || !state.is_reviewed) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    return run_item_latest(txn, query->org, &run, query->as_of_seq, ret_seq);
}

static enum err find_past(struct arena *arena, struct store_txn *txn,
                          const struct review_window_query *query, uint64_t *ret_seq)
{
    struct key prefix = key_review_subcategory_prefix(query->org, query->subcategory);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = store_cursor_init(&cursor, txn, TABLE_REVIEW_SUBCATEGORY, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    *ret_seq = 0;
    while (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK && query->is_cancelled(query->user)) {
            err = ERR_CANCELLED;
        }
        if (err == OK) {
            err = item_of_row(arena, txn, query, key, value, &seq);
        }
        *ret_seq = err == OK && seq > *ret_seq ? seq : *ret_seq;
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err run_item_example(struct arena *arena, struct store_txn *txn,
                          const struct review_window_query *query, uint64_t *ret_seq)
{
    struct key prefix = key_review_subcategory_prefix(query->org, query->subcategory);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (query->as_of_seq != REVIEWS_NOW) {
        return find_past(arena, txn, query, ret_seq);
    }
    *ret_seq = 0;
    err = store_cursor_init(&cursor, txn, TABLE_REVIEW_EXAMPLE, key_slice(&prefix),
                            slice_of(NULL, 0), STORE_ASCENDING);
    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK) {
        err = key_read_review_item(key, ret_seq);
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err run_item_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                       struct slice *ret_item_json)
{
    struct review_view review;
    struct run_item_view item;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK && event.kind == EVENT_RUN_ITEM_PUT) {
        err = view_read_parts(&run_item_view_type, event.facts, event.content, &item);
        *ret_item_json = err == OK ? item.item_json : slice_of(NULL, 0);
    } else if (err == OK && event.kind == EVENT_REVIEW_SUBMITTED) {
        err = view_read_parts(&review_view_type, event.facts, event.content, &review);
        *ret_item_json = err == OK ? review.item_snapshot_json : slice_of(NULL, 0);
    } else if (err == OK) {
        err = ERR_CORRUPT;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
