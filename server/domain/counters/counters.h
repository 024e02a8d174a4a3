/*
 * counters.h: the counters from which analytics are computed, by UTC day of `created_at`; sums by
 * layout and arm are in experiment/sums.h. Only apply writes them, in the transaction that stores
 * the event; their sum always equals what a scan of the events gives.
 */
#ifndef ERRATA_SERVER_DOMAIN_COUNTERS_COUNTERS_H
#define ERRATA_SERVER_DOMAIN_COUNTERS_COUNTERS_H

#include "server/domain/counters/keys.h"
#include "store/log.h"

/* Maximum distinct field names that are counted by name for an organisation and day; the others
 * count as `other`. */
#define COUNTERS_FIELD_NAMES_MAX 1000

/* The keys of counters by day. */
struct counter_day {
    struct org_id org;
    uint32_t day; /* days since 1970 */
};

/* Returns the day of a time, as days since 1970. */
uint32_t counters_day_of(int64_t created_at_us);
static inline struct counter_day counters_day(struct org_id org, int64_t created_at_us)
{
    return (struct counter_day){org, counters_day_of(created_at_us)};
}

/* Adds to one counter; adding 0 writes nothing. */
MUST_CHECK enum err counters_add(struct ctx *ctx, struct store_txn *txn,
                                 const struct counter_day *at, enum counter_dimension dimension,
                                 struct slice name, uint64_t amount);
/* Subtracts an amount that was added before; a saturated counter stays saturated. Returns
 * ERR_CORRUPT for more than its value. */
MUST_CHECK enum err counters_subtract(struct ctx *ctx, struct store_txn *txn,
                                      const struct counter_day *at,
                                      enum counter_dimension dimension, struct slice name,
                                      uint64_t amount);
/* Counts a corrected field under its name, or as `other` once the day has enough names. `dimension`
 * is COUNTER_LINE_FIELD or COUNTER_FIELD_FIELD. */
MUST_CHECK enum err counters_add_field(struct ctx *ctx, struct store_txn *txn,
                                       const struct counter_day *at,
                                       enum counter_dimension dimension, struct slice name);
/* Reverses counters_add_field for one event. A name without counts is no longer counted as
 * distinct, unless the day has reached its limit of names: it then keeps its place in the limit,
 * and its later corrections count as `other`, like those of all other names. */
MUST_CHECK enum err counters_subtract_field(struct ctx *ctx, struct store_txn *txn,
                                            const struct counter_day *at,
                                            enum counter_dimension dimension, struct slice name);

#endif
