/*
 * runs.h: the state of a run: its newest review, and whether it counts as reviewed. It does while
 * its newest review is REVIEWED, and the newest reviews of as many reviewers as that review needed
 * when it was stored are REVIEWED, too.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_RUNS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_RUNS_H

#include "server/domain/reviews/history.h"

/* The state of a run after some event. */
struct review_run_state {
    struct review_entry newest; /* borrowed from the transaction */
    bool is_reviewed;
};

/* Reads a run as it was after the event `as_of_seq`. ERR_NOT_FOUND if no review of it counts. */
MUST_CHECK enum err review_run_read_state(struct arena *arena, struct store_txn *txn,
                                          struct org_id org, const struct review_run_hash *run,
                                          uint64_t as_of_seq, struct review_run_state *ret_state);
/* Reads the row of a run. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err review_run_read(struct store_txn *txn, struct org_id org,
                                    const struct review_run_hash *run,
                                    struct review_run_record *ret_record);
/* Adds `added` to the number of reviews of a run, creates its row if it has none, and derives the rest of the row, and
 * its rows among the newest reviews and the example items of its subcategory, from its reviews and items. For apply. */
MUST_CHECK enum err review_run_refresh(struct arena *arena, struct store_txn *txn,
                                       struct org_id org, struct slice run_id, uint32_t added);

#endif
