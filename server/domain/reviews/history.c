/*
 * history.c: see history.h.
 */
#include "server/domain/reviews/history.h"

bool review_counts(const struct review_record *record, uint64_t seq, uint64_t as_of_seq)
{
    return seq <= as_of_seq && (record->retracted_seq == 0 || record->retracted_seq > as_of_seq);
}

enum err review_history_init(struct review_history *history, struct store_txn *txn,
                             struct org_id org, const struct review_run_hash *run,
                             uint64_t as_of_seq)
{
    struct key prefix = key_review_prefix(org, run);

    history->as_of_seq = as_of_seq;
    return store_cursor_init(&history->cursor, txn, TABLE_REVIEW, key_slice(&prefix),
                             slice_of(NULL, 0), STORE_ASCENDING);
}

enum err review_history_next(struct review_history *history, struct review_entry *ret_entry)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = OK;

    do {
        err = store_cursor_next(&history->cursor, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &ret_entry->created_at_us, &ret_entry->seq);
        }
        if (err == OK) {
            err = record_decode_review(value, &ret_entry->record);
        }
    } while (err == OK && !review_counts(&ret_entry->record, ret_entry->seq, history->as_of_seq));
    return err;
}

void review_history_deinit(struct review_history *history)
{
    store_cursor_deinit(&history->cursor);
}

enum err review_history_newest(struct store_txn *txn, struct org_id org,
                               const struct review_run_hash *run, uint64_t as_of_seq,
                               struct review_entry *ret_entry)
{
    struct review_history history = {.as_of_seq = 0};
    enum err err = review_history_init(&history, txn, org, run, as_of_seq);

    if (err == OK) {
        err = review_history_next(&history, ret_entry);
    }
    review_history_deinit(&history);
    return err;
}
