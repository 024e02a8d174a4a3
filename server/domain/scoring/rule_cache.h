/*
 * rule_cache.h: rule sets of the organisations that request scores. The sets belong to the loop. A
 * set that has to be loaded is loaded on the pool, used there, and handed over to the loop, which
 * takes it at the next lookup of its organisation: only that transfer is shared between threads.
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_RULE_CACHE_H
#define ERRATA_SERVER_DOMAIN_SCORING_RULE_CACHE_H

#include "server/domain/scoring/rule_set.h"

#include <stdatomic.h>

/* Organisations with a set, one for each slot; a power of two. As in the cache of settings. */
#define RULE_CACHE_SLOTS 64
/* Memory of all sets of the loop: enough for four of the largest, or tens of typical ones of 1,000
 * rules and 0.5 MB. Above it the set that was not used for the longest time is freed. */
#define RULE_CACHE_BYTES_MAX (4 * RULE_SET_BYTES_MAX)

struct rule_cache_slot {
    struct rule_set *set; /* owned set of the loop, or NULL */
    uint64_t used_at; /* turn of the last use */
    _Atomic(struct rule_set *) incoming; /* from the pool, or NULL; owned by the function that takes
                                          * it out */
};

/* Zeroed: empty. */
struct rule_cache {
    struct rule_cache_slot slots[RULE_CACHE_SLOTS];
    uint64_t turn; /* number of lookups so far */
};

/* Returns the set of an organisation, as of `last_seq`, the last event of the snapshot; NULL: it
 * must be loaded. It is valid until the next lookup. Called only on the loop. */
MUST_CHECK enum err rule_cache_find(struct rule_cache *cache, struct store_txn *txn,
                                    struct org_id org, uint64_t last_seq,
                                    struct rule_set **ret_set);
/* Transfers a set to the loop; may be called on any thread. */
void rule_cache_offer(struct rule_cache *cache, struct rule_set *take_set);
/* Frees the set of an organisation that was deleted. Called only on the loop. */
void rule_cache_forget(struct rule_cache *cache, struct org_id org);
/* Frees all sets. Called after the pool has ended. */
void rule_cache_deinit(struct rule_cache *cache);

#endif
