/*
 * history.h: the reviews of one run, newest first, as of now or after an earlier event. A review
 * counts from its own event up to its retraction.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_HISTORY_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_HISTORY_H

#include "server/domain/reviews/records.h"

/* Maximum reviews of a run, including retracted ones; bounds each walk over a run, and so also the work of a write. */
#define REVIEWS_OF_RUN_MAX 1000

/* Value of `as_of_seq` for the present. */
#define REVIEWS_NOW UINT64_MAX

/* A review of the run. Its slices are borrowed from the transaction. */
struct review_entry {
    int64_t created_at_us;
    uint64_t seq;
    struct review_record record;
};

struct review_history {
    struct store_cursor cursor;
    uint64_t as_of_seq;
};

/* Returns whether a review counts after the event `as_of_seq`. */
bool review_counts(const struct review_record *record, uint64_t seq, uint64_t as_of_seq);

MUST_CHECK enum err review_history_init(struct review_history *history, struct store_txn *txn,
                                        struct org_id org, const struct review_run_hash *run,
                                        uint64_t as_of_seq);
/* Returns the next review that counts. ERR_NOT_FOUND after the last. */
MUST_CHECK enum err review_history_next(struct review_history *history,
                                        struct review_entry *ret_entry);
/* Accepts a zeroed history. */
void review_history_deinit(struct review_history *history);

/* Reads the newest review of a run that counts. ERR_NOT_FOUND if none does. */
MUST_CHECK enum err review_history_newest(struct store_txn *txn, struct org_id org,
                                          const struct review_run_hash *run, uint64_t as_of_seq,
                                          struct review_entry *ret_entry);

#endif
