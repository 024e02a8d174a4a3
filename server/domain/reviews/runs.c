/*
 * runs.c: see runs.h.
 */
#include "server/domain/reviews/runs.h"

#include "server/domain/reviews/items.h"
#include "server/domain/reviews/reviewers.h"
#include "store/base/bytes.h"

#include <errata/v1/review.fields.h>

/* Returns whether the latest answers of enough reviewers are REVIEWED. */
static enum err count_reviewers(struct arena *arena, struct review_history *history,
                                struct review_entry newest, bool *ret_is_reviewed)
{
    struct reviewers reviewers;
    uint32_t needed = newest.record.reviews_needed;
    uint32_t count = 0;
    enum err err = reviewers_init(&reviewers, arena, REVIEWS_OF_RUN_MAX);

    while (err == OK && count < needed) {
        if (reviewers_add(&reviewers, newest.record.reviewed_by)) {
            count += newest.record.decision == REVIEW_DECISION_REVIEWED;
        }
        if (count < needed) {
            err = review_history_next(history, &newest);
        }
    }
    *ret_is_reviewed = count >= needed;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err review_run_read_state(struct arena *arena, struct store_txn *txn, struct org_id org,
                               const struct review_run_hash *run, uint64_t as_of_seq,
                               struct review_run_state *ret_state)
{
    struct review_history history = {.as_of_seq = 0};
    struct review_run_state state = {.is_reviewed = false};
    enum err err = review_history_init(&history, txn, org, run, as_of_seq);

    if (err == OK) {
        err = review_history_next(&history, &state.newest);
    }
    if (err == OK && state.newest.record.decision == REVIEW_DECISION_REVIEWED) {
        state.is_reviewed = state.newest.record.reviews_needed == 1;
        if (!state.is_reviewed) {
            err = count_reviewers(arena, &history, state.newest, &state.is_reviewed);
        }
    }
    review_history_deinit(&history);
    if (err == OK) {
        *ret_state = state;
    }
    return err;
}

enum err review_run_read(struct store_txn *txn, struct org_id org,
                         const struct review_run_hash *run, struct review_run_record *ret_record)
{
    struct key key = key_review_run(org, run);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_REVIEW_RUN, key_slice(&key), &value);

    return err != OK ? err : record_decode_review_run(value, ret_record);
}

/* Derives the values of a row from the reviews of a run; its texts are in the arena. */
static enum err derive(struct arena *arena, struct store_txn *txn, struct org_id org,
                       const struct review_run_hash *run, struct review_run_record *record)
{
    struct review_run_state state;
    enum err err = review_run_read_state(arena, txn, org, run, REVIEWS_NOW, &state);

    record->newest_seq = 0;
    record->newest_created_at_us = 0;
    record->subcategory = slice_of(NULL, 0);
    record->is_reviewed = false;
    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    record->newest_seq = state.newest.seq;
    record->newest_created_at_us = state.newest.created_at_us;
    record->is_reviewed = state.is_reviewed;
    return arena_copy(arena, state.newest.record.subcategory, &record->subcategory) ? OK
                                                                                    : ERR_MEMORY;
}

static struct key newest_key(struct org_id org, const struct review_run_record *record)
{
    return key_review_subcategory(org, record->subcategory, record->newest_created_at_us,
                                  record->newest_seq);
}

/* Moves the row of a run among the newest reviews. */
static enum err move_newest(struct store_txn *txn, struct org_id org,
                            const struct review_run_hash *run,
                            const struct review_run_record *before,
                            const struct review_run_record *after)
{
    uint8_t value[REVIEW_NEWEST_BYTES];
    struct key key;
    enum err err = OK;

    if (before->newest_seq != 0 && before->newest_seq != after->newest_seq) {
        key = newest_key(org, before);
        err = store_del(txn, TABLE_REVIEW_NEWEST, key_slice(&key));
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (err != OK || after->newest_seq == 0) {
        return err;
    }
    memcpy(value, run->bytes, sizeof(run->bytes));
    bytes_put_be32(value + sizeof(run->bytes), after->review_count);
    key = newest_key(org, after);
    return store_put(txn, TABLE_REVIEW_NEWEST, key_slice(&key), slice_of(value, sizeof(value)));
}

/* Returns whether a run has an example item. */
static bool has_example(const struct review_run_record *record)
{
    return record->is_reviewed && record->item_seq != 0;
}

/* Moves the row of a run among the example items. */
static enum err move_example(struct store_txn *txn, struct org_id org,
                             const struct review_run_hash *run,
                             const struct review_run_record *before,
                             const struct review_run_record *after)
{
    struct key key;
    enum err err = OK;

    if (has_example(before)) {
        key = key_review_example(org, before->subcategory, before->item_seq);
        err = store_del(txn, TABLE_REVIEW_EXAMPLE, key_slice(&key));
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (err != OK || !has_example(after)) {
        return err;
    }
    key = key_review_example(org, after->subcategory, after->item_seq);
    return store_put(txn, TABLE_REVIEW_EXAMPLE, key_slice(&key),
                     slice_of(run->bytes, sizeof(run->bytes)));
}

/* Reads the row of a run into the arena; an empty one if there is none. */
static enum err read_before(struct arena *arena, struct store_txn *txn, struct org_id org,
                            const struct review_run_hash *run, struct review_run_record *ret_record)
{
    enum err err = review_run_read(txn, org, run, ret_record);

    if (err == ERR_NOT_FOUND) {
        *ret_record = (struct review_run_record){.newest_seq = 0};
        return OK;
    }
    return err == OK && !arena_copy(arena, ret_record->subcategory, &ret_record->subcategory)
               ? ERR_MEMORY
               : err;
}

enum err review_run_refresh(struct arena *arena, struct store_txn *txn, struct org_id org,
                            struct slice run_id, uint32_t added)
{
    struct review_run_hash run = review_run_hash_of(run_id);
    struct key key = key_review_run(org, &run);
    struct review_run_record before;
    struct review_run_record after;
    struct slice value = {NULL, 0};
    enum err err = read_before(arena, txn, org, &run, &before);

    if (err != OK) {
        return err;
    }
    after = before;
    after.run_id = run_id;
    after.review_count += added;
    err = derive(arena, txn, org, &run, &after);
    if (err == OK) {
        err = run_item_latest(txn, org, &run, REVIEWS_NOW, &after.item_seq);
    }
    if (err == OK) {
        err = move_newest(txn, org, &run, &before, &after);
    }
    if (err == OK) {
        err = move_example(txn, org, &run, &before, &after);
    }
    if (err == OK) {
        err = record_encode_review_run(arena, &after, &value);
    }
    return err != OK ? err : store_put(txn, TABLE_REVIEW_RUN, key_slice(&key), value);
}
