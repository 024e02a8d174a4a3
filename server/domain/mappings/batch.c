/*
 * batch.c: several confirmations, rejections and suggestions in one write. All of them are checked
 * before the first is stored. A suggestion that changes nothing stores no event, so the response
 * assigns events to items by comparing them.
 */
#include "server/domain/mappings/mappings.h"

#include "server/domain/mappings/records.h"
#include "server/domain/mappings/rows.h"

/* Memory limit for storing one item, with a large margin: suggestions of 64 KiB are quoted and
 * reduced. */
#define ITEM_BYTES_MAX (4u << 20)

/* Checks whether the caller may set the item's actor and time. The value of the time is checked at
 * the end, for all items. */
static enum err check_actor(struct ctx *ctx, const struct event_caller *caller,
                            const struct mapping_batch_item *item, int64_t now_us)
{
    const struct slice no_actor = {NULL, 0};
    const struct event_time *time =
        item->is_suggestion ? &item->suggestion.time : &item->judgement.time;
    struct slice named = item->is_suggestion ? no_actor : item->judgement.actor_user_id;
    struct slice actor = {NULL, 0};
    enum err err = actor_resolve(ctx, caller, item->path, named, time->is_given, &actor);

    event_time_check(ctx, time, item->path, now_us);
    return err;
}

static enum err check_id(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         const struct mapping_batch_item *item)
{
    struct mapping_row row;
    enum err err = OK;

    if (item->is_suggestion || !item->judgement.is_by_id) {
        return OK;
    }
    err = mapping_row_find_id(txn, org, item->judgement.id, &row);
    return err != ERR_NOT_FOUND
               ? err
               : fault_say(ctx->fault, err,
                           "%.*s.id: not found in this organisation; expected the id of a mapping",
                           (int)item->path.size, (const char *)item->path.data);
}

static enum err check_all(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          const struct event_caller *caller, const struct mapping_batch *batch)
{
    struct log_stamp stamp = {0};
    enum err err = log_next_stamp(ctx, txn, org, &stamp);

    for (size_t i = 0; i < batch->count && err == OK; i++) {
        err = check_actor(ctx, caller, &batch->items[i], stamp.created_at_us);
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    for (size_t i = 0; i < batch->count && err == OK; i++) {
        err = check_id(ctx, txn, org, &batch->items[i]);
    }
    return err;
}

static enum err store_item(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                           const struct event_caller *caller, const struct mapping_batch_item *item,
                           struct work_result *result)
{
    struct log_head before;
    uint64_t seq = 0;
    enum err err = log_read_head(txn, org, &before);

    if (err == OK) {
        err = item->is_suggestion ? mapping_suggest(ctx, txn, org, caller, &item->suggestion, &seq)
                                  : mapping_judge(ctx, txn, org, caller, &item->judgement, &seq);
    }
    if (err == OK && seq > before.last_seq) {
        result->first_seq = result->count == 0 ? seq : result->first_seq;
        result->count++;
    }
    return err;
}

enum err mapping_batch_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct event_caller *caller, const struct mapping_batch *batch,
                             struct work_result *ret_result)
{
    struct work_result result = *ret_result;
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = check_all(ctx, txn, org, caller, batch);

    if (err != OK) {
        return err;
    }
    result.first_seq = 0;
    result.count = 0;
    arena_init(&arena, ITEM_BYTES_MAX);
    inner.arena = &arena;
    for (size_t i = 0; i < batch->count && err == OK; i++) {
        err = store_item(&inner, txn, org, caller, &batch->items[i], &result);
        arena_reset(&arena);
    }
    arena_deinit(&arena);
    if (err == OK) {
        *ret_result = result;
    }
    return err;
}

/* Returns whether an event was stored for a suggestion. An equal suggestion in the next item has no
 * effect, so the assignment is unambiguous. */
static enum err is_of_suggestion(struct arena *arena, const struct event *event,
                                 const struct mapping_changes *changes,
                                 const struct mapping_suggestion *suggestion, bool *ret_is)
{
    const struct mapping_pair *wanted = &suggestion->name.pair;
    const struct mapping_record *record = &changes->items[0].row.record;
    struct mapping_pair pair;
    enum err err = OK;

    *ret_is = false;
    if (event->kind != EVENT_MAPPING_SUGGESTED || record->confidence != suggestion->confidence ||
        event->source != event_time_source(&suggestion->time) ||
        (suggestion->time.is_given && event->created_at_us != suggestion->time.created_at_us)) {
        return OK;
    }
    err = mapping_pair_of(arena, record, &pair);
    *ret_is = err == OK && slice_equal(pair.customer_id, wanted->customer_id) &&
              slice_equal(pair.folded_customer_sku, wanted->folded_customer_sku) &&
              slice_equal(pair.folded_internal_sku, wanted->folded_internal_sku);
    return err;
}

/* Reads the next event of the batch. ERR_NOT_FOUND after the last one. */
static enum err read_next(struct store_txn *txn, const struct work_result *result, uint32_t next,
                          struct event *event, struct mapping_changes *changes)
{
    enum err err = OK;

    if (next >= result->count) {
        return ERR_NOT_FOUND;
    }
    err = log_read(txn, result->org, result->first_seq + next, event);
    err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    if (err == OK) {
        err = mapping_changes_read(event, changes);
    }
    return err == OK && changes->count == 0 ? ERR_CORRUPT : err;
}

enum err mapping_batch_outcome(struct arena *arena, struct store_txn *txn,
                               const struct work_result *result,
                               const struct mapping_batch_item *item, uint32_t *next,
                               struct mapping_batch_outcome *ret_outcome)
{
    struct mapping_changes changes;
    struct mapping_row row;
    struct event event;
    bool is_its = !item->is_suggestion;
    enum err err = read_next(txn, result, *next, &event, &changes);

    if (err == OK && item->is_suggestion) {
        err = is_of_suggestion(arena, &event, &changes, &item->suggestion, &is_its);
    }
    if (err == OK && is_its) {
        *ret_outcome = (struct mapping_batch_outcome){
            .mapping_id = changes.items[0].row.record.id, .has_event = true, .event_id = event.id};
        (*next)++;
        return OK;
    }
    if (item->is_suggestion && (err == OK || err == ERR_NOT_FOUND)) {
        err = mapping_row_find(txn, result->org, &item->suggestion.name.pair, &row);
        *ret_outcome = (struct mapping_batch_outcome){.mapping_id = row.record.id};
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
