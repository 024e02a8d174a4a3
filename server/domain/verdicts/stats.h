/*
 * stats.h: counts how often verdicts were correct among the submissions since a given time. Reads
 * one row for each submission, so it must run on the pool.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_STATS_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_STATS_H

#include "store/base/arena.h"
#include "store/log.h"

/* Maximum missed indicators that are reported. */
#define VERDICT_STATS_TOP 10
/* Maximum distinct missed indicators that are counted, with at most 26 MB of names. */
#define VERDICT_STATS_NAMES_MAX 100000

/* Selects the counted submissions. */
struct verdict_stats_query {
    struct org_id org;
    int64_t from_us; /* `created_at` of the oldest ones */
    bool (*is_cancelled)(const void *user); /* called every few hundred submissions */
    const void *user;
};

struct indicator_count {
    struct slice indicator;
    uint64_t count;
};

struct verdict_stats {
    uint64_t total;
    uint64_t right; /* number of original verdicts that were correct */
    uint64_t false_positives;
    uint64_t false_negatives;
    uint64_t real;
    uint64_t fake;
    uint64_t suspicious;
    struct indicator_count missed[VERDICT_STATS_TOP]; /* most frequent first, then by name */
    size_t missed_count;
    bool incomplete; /* there were more than VERDICT_STATS_NAMES_MAX */
};

/* Counts the submissions. ERR_CANCELLED if is_cancelled returns true. Names are in the arena. */
MUST_CHECK enum err verdict_stats_read(struct arena *arena, struct store_txn *txn,
                                       const struct verdict_stats_query *query,
                                       struct verdict_stats *ret_stats);
/* Returns the share of correct verdicts in tenths of a percent, rounded half up; `total` is not
 * 0. */
uint32_t verdict_stats_permille(const struct verdict_stats *stats);

#endif
