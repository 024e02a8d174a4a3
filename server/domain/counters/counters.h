/*
 * counters.h: what analytics is served from: counters by UTC day of `created_at`, and sums by layout
 * and organisation. Written by apply alone, in the transaction that stores the event; their sum equals
 * what a scan of the events gives, always. Integers throughout: a confidence is in millionths.
 */
#ifndef ERRATA_SERVER_DOMAIN_COUNTERS_COUNTERS_H
#define ERRATA_SERVER_DOMAIN_COUNTERS_COUNTERS_H

#include "store/log.h"
#include "store/record.h"

/* Distinct field names that are counted for an organisation and day; the others count as `other`. */
#define COUNTERS_FIELD_NAMES_MAX 1000
#define COUNTERS_CONFIDENCE_UNIT 1000000
/* Examples that a layout has before its extractions count in the experiment. */
#define COUNTERS_EXAMPLES_READY 3

/* Where counters by day stand. */
struct counter_day {
    struct org_id org;
    uint32_t day; /* counted from 1970 */
};

/* The day that a time lies in, counted from 1970. */
uint32_t counters_day_of(int64_t created_at_us);
static inline struct counter_day counters_day(struct org_id org, int64_t created_at_us)
{
    return (struct counter_day){org, counters_day_of(created_at_us)};
}

/* Adds to one counter; adding 0 writes nothing. */
MUST_CHECK enum err counters_add(struct ctx *ctx, struct store_txn *txn,
                                 const struct counter_day *at, enum counter_dimension dimension,
                                 struct slice name, uint64_t amount);
/* Counts a corrected field under its name, or as `other` once the day has enough names. `dimension`
 * is COUNTER_LINE_FIELD or COUNTER_FIELD_FIELD. */
MUST_CHECK enum err counters_add_field(struct ctx *ctx, struct store_txn *txn,
                                       const struct counter_day *at,
                                       enum counter_dimension dimension, struct slice name);

/* What the sums need of an extraction. */
struct counted_extraction {
    struct org_id org;
    struct slice layout_fingerprint; /* text */
    int64_t created_at_us;
    uint32_t confidence_millionths;
    uint32_t arm; /* errata.v1.ExperimentArm */
    bool layout_ready; /* else it counts in no arm */
    uint32_t field_count; /* 0: not told */
};

/* An event names a layout for the first time: it is listed from now on. Does nothing where it is. */
MUST_CHECK enum err counters_name_layout(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                         struct slice layout_fingerprint);
/* Counts an extraction: by day, by layout, by arm. */
MUST_CHECK enum err counters_add_extraction(struct ctx *ctx, struct store_txn *txn,
                                            const struct counted_extraction *extraction);
/* Counts a correction of an extraction that was counted before: `first` where it was not corrected
 * before, and `field_count` of its fields that were not. */
MUST_CHECK enum err counters_add_corrected(struct ctx *ctx, struct store_txn *txn,
                                           const struct counted_extraction *extraction, bool first,
                                           uint32_t field_count);
/* The sums of a layout, or of the organisation (the empty text). Zeros where there are none. */
MUST_CHECK enum err counters_read_layout(struct store_txn *txn, struct org_id org,
                                         struct slice layout_fingerprint,
                                         struct layout_stats_record *ret_stats);

#endif
