/*
 * triggers.h: the findings that are frequent in a window of reviews, by the thresholds of its subcategory.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_TRIGGERS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_TRIGGERS_H

#include "server/domain/reviews/thresholds.h"
#include "server/domain/reviews/window.h"

struct review_triggers {
    uint32_t run_count;
    bool low_confidence;
    uint32_t counts
        [THRESHOLD_COUNT]; /* number of runs with each signal; for MISSING_SPEC, with the most frequent field */
    bool states[THRESHOLD_COUNT];
    const struct spec_count *specs; /* most frequent first */
    size_t spec_count;
    struct review_thresholds_record thresholds; /* with the defaults; without reviews_needed */
};

/* Returns whether `count` of `run_count` runs reach a threshold. */
bool review_trigger_is_reached(uint32_t count, uint32_t threshold, uint32_t run_count);

/* Reads the window and the thresholds of a subcategory; query->runs_max is set. ERR_CANCELLED. */
MUST_CHECK enum err review_triggers_read(struct arena *arena, struct store_txn *txn,
                                         struct review_window_query *query,
                                         struct review_triggers *ret_triggers);
/* Encodes the message in the arena. */
MUST_CHECK enum err review_triggers_encode(struct arena *arena,
                                           const struct review_triggers *triggers,
                                           struct slice *ret_message);

#endif
