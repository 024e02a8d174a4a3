/*
 * learning_internal.h: the sums of a report, for this folder: learning.c adds counters, learning_events.c adds events.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_LEARNING_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_LEARNING_INTERNAL_H

#include "server/domain/analytics/learning.h"
#include "server/domain/experiment/sums.h"

struct day_sums {
    uint64_t events;
    uint64_t corrections; /* number of corrections among the events */
    uint64_t mappings; /* number of mapping events among the events */
    uint64_t extractions;
    uint64_t confidence; /* millionths */
    uint64_t corrected;
};

/* The sums of a report. */
struct learning {
    struct org_id org;
    struct learning_range range;
    uint32_t annotator_kinds; /* add only events of these kinds; 0: of all */
    struct day_sums days[LEARNING_DAYS_MAX];
    uint64_t types[LEARNING_TYPES_MAX];
    uint64_t applied;
    uint64_t retracted;
    struct layout_stats_record layout; /* counts of a layout, or their sums over a family */
    bool is_incomplete;
    struct field_counts fields;
};

/* Adds two numbers; the sum is at most UINT64_MAX. */
void learning_add_to(uint64_t *sum, uint64_t amount);
/* Adds feedback events of one type. */
void learning_add_type(struct learning *learning, struct day_sums *day,
                       enum feedback_event_type type, uint64_t count);

/* Add the feedback events of the range, newest first, at most LEARNING_EVENTS_MAX: of a layout, */
MUST_CHECK enum err learning_add_layout(struct ctx *ctx, struct store_txn *txn,
                                        struct learning *learning, struct slice fingerprint);
/* of a family, which has only those that are its examples, */
MUST_CHECK enum err learning_add_family(struct ctx *ctx, struct store_txn *txn,
                                        struct learning *learning,
                                        const struct family_members *members);
/* or of the whole organisation. */
MUST_CHECK enum err learning_add_log(struct ctx *ctx, struct store_txn *txn,
                                     struct learning *learning);

#endif
