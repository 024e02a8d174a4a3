/*
 * thresholds.h: the thresholds of subcategories, as events: each change is one EVENT_TRIGGER_THRESHOLDS_SET with all of
 * them, which names the change before it.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_THRESHOLDS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_THRESHOLDS_H

#include "server/domain/events/actor.h"
#include "server/domain/reviews/records.h"
#include "store/log.h"

#include <errata/v1/review_triggers.views.h>

/* Reads the thresholds of a subcategory as they were after the event `as_of_seq` (UINT64_MAX: now), in one step for each
 * change since then. Without any, seq and all values are 0. */
MUST_CHECK enum err review_thresholds_read(struct store_txn *txn, struct org_id org,
                                           struct slice subcategory, uint64_t as_of_seq,
                                           struct review_thresholds_record *ret_thresholds);
/* Returns a threshold, or its default. */
uint32_t review_threshold_of(const struct review_thresholds_record *thresholds,
                             enum review_threshold threshold);

/* The change of a subcategory's thresholds. */
struct review_thresholds_change {
    struct org_id org;
    struct event_caller caller;
    struct slice subcategory;
    uint32_t values[THRESHOLD_COUNT]; /* 1 to REVIEW_WINDOW_RUNS; 0: the default */
    uint32_t reviews_needed; /* 1 to REVIEWS_NEEDED_MAX; 0: that of the settings */
};

/* Appends and applies the change, even to equal values, since it is an administrator's decision. */
MUST_CHECK enum err review_thresholds_set(struct ctx *ctx, struct store_txn *txn,
                                          const struct review_thresholds_change *change,
                                          uint64_t *ret_seq);
MUST_CHECK enum err review_thresholds_apply(struct ctx *ctx, struct store_txn *txn,
                                            const struct event *event);
/* Returns the thresholds that were set as a message. */
struct review_thresholds_view
review_thresholds_view_of(const struct review_thresholds_record *thresholds);

#endif
