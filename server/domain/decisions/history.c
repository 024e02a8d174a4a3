/*
 * history.c: see history.h.
 */
#include "server/domain/decisions/history.h"

#include "server/domain/decisions/keys.h"
#include "server/domain/events/retraction.h"
#include "store/base/compare.h"

#include <stdlib.h>

enum err decision_history_begin(struct scan *scan, struct store_txn *txn,
                                const struct decision_history_query *query)
{
    bool is_of_agent = query->agent.size > 0;
    struct key after = is_of_agent
                           ? key_decision_agent(query->org, query->agent, query->before_us, 0)
                           : key_decision_time(query->org, query->before_us, 0);
    const struct scan_range range = {
        .table = is_of_agent ? TABLE_DECISION_AGENT : TABLE_DECISION_TIME,
        .prefix =
            is_of_agent ? key_decision_agent_prefix(query->org, query->agent) : key_org(query->org),
        .order = STORE_ASCENDING,
        .after = query->before_us != INT64_MAX ? key_slice(&after) : slice_of(NULL, 0),
        .rows_max = query->max};

    return scan_init(scan, txn, &range);
}

enum err decision_history_next(struct scan *scan, struct store_txn *txn, struct org_id org,
                               int64_t *ret_created_at_us, uint64_t *ret_seq)
{
    uint64_t retraction_seq = 0;
    enum err err = OK;

    do {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = scan_next(scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, ret_created_at_us, ret_seq);
        }
        if (err == OK) {
            err = retraction_find(txn, org, *ret_seq, &retraction_seq);
        }
    } while (err == OK && retraction_seq != 0);
    return err;
}

/* Adds the members of a cluster. */
static enum err add_members(struct store_txn *txn, struct org_id org, uint64_t cluster_seq,
                            struct decision_set *set)
{
    const struct scan_range range = {.table = TABLE_DECISION_MEMBER,
                                     .prefix = key_decision_member_prefix(org, cluster_seq),
                                     .order = STORE_ASCENDING,
                                     .rows_max = HISTORY_MEMBERS_MAX};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_decision_seq(key, &set->seqs[set->count]);
        }
        set->count += err == OK;
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err decision_set_of_clusters(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  const uint64_t *cluster_seqs, size_t cluster_count,
                                  struct decision_set *ret_set)
{
    struct decision_set set = {
        .seqs = arena_calloc(arena, cluster_count * HISTORY_MEMBERS_MAX + 1, sizeof(*set.seqs))};
    enum err err = set.seqs != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; err == OK && i < cluster_count; i++) {
        err = add_members(txn, org, cluster_seqs[i], &set);
    }
    if (err == OK) {
        qsort(set.seqs, set.count, sizeof(*set.seqs), compare_uint64);
        *ret_set = set;
    }
    return err;
}

bool decision_set_has(const struct decision_set *set, uint64_t seq)
{
    return set->count > 0 &&
           bsearch(&seq, set->seqs, set->count, sizeof(seq), compare_uint64) != NULL;
}
