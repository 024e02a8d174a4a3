/*
 * history.h: the decisions of an agent, or of all, in the order of their time, without their words: what reports count.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_HISTORY_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_HISTORY_H

#include "store/base/arena.h"
#include "store/log.h"
#include "store/scan.h"

/* Members of a cluster that are counted, the newest first. */
#define HISTORY_MEMBERS_MAX 4000

struct decision_history_query {
    struct org_id org;
    struct slice agent; /* empty: all */
    int64_t before_us; /* only decisions before this time; INT64_MAX: all */
    uint32_t max;
};

/* Begins a scan of decisions that were not retracted, newest first; decision_history_next returns ERR_NOT_FOUND after the last, or after `max`
 * (`scan->is_cut`: there are more). */
MUST_CHECK enum err decision_history_begin(struct scan *scan, struct store_txn *txn,
                                           const struct decision_history_query *query);
MUST_CHECK enum err decision_history_next(struct scan *scan, struct store_txn *txn,
                                          struct org_id org, int64_t *ret_created_at_us,
                                          uint64_t *ret_seq);

/* Sequence numbers of decisions, ascending. */
struct decision_set {
    uint64_t *seqs; /* in the arena */
    size_t count;
};

/* Lists the HISTORY_MEMBERS_MAX newest members of each cluster. */
MUST_CHECK enum err decision_set_of_clusters(struct arena *arena, struct store_txn *txn,
                                             struct org_id org, const uint64_t *cluster_seqs,
                                             size_t cluster_count, struct decision_set *ret_set);
bool decision_set_has(const struct decision_set *set, uint64_t seq);

#endif
