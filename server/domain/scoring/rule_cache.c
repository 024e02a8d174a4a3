/*
 * rule_cache.c: see rule_cache.h. An organisation's slot follows from the last byte of its id, which is random.
 */
#include "server/domain/scoring/rule_cache.h"

static struct rule_cache_slot *slot_of(struct rule_cache *cache, struct org_id org)
{
    return &cache->slots[org.uuid.bytes[UUID_BYTES - 1] & (RULE_CACHE_SLOTS - 1)];
}

static size_t used_bytes(const struct rule_cache *cache)
{
    size_t bytes = 0;

    for (size_t i = 0; i < RULE_CACHE_SLOTS; i++) {
        bytes += cache->slots[i].set != NULL ? cache->slots[i].set->arena.used_bytes : 0;
    }
    return bytes;
}

/* Frees the sets that were not used for the longest time, until the others are within the limit; never `kept`. */
static void make_room(struct rule_cache *cache, const struct rule_cache_slot *kept)
{
    struct rule_cache_slot *oldest = kept->set == NULL ? NULL : cache->slots;

    while (oldest != NULL && used_bytes(cache) > RULE_CACHE_BYTES_MAX) {
        oldest = NULL;
        for (size_t i = 0; i < RULE_CACHE_SLOTS; i++) {
            struct rule_cache_slot *slot = &cache->slots[i];

            if (slot != kept && slot->set != NULL &&
                (oldest == NULL || slot->used_at < oldest->used_at)) {
                oldest = slot;
            }
        }
        if (oldest != NULL) {
            rule_set_free(oldest->set);
            oldest->set = NULL;
        }
    }
}

/* Takes a set that the pool loaded, if it is of this organisation and newer than the slot's own. */
static void take_incoming(struct rule_cache *cache, struct rule_cache_slot *slot, struct org_id org)
{
    struct rule_set *set = atomic_exchange(&slot->incoming, NULL);
    const struct rule_set *own = slot->set;

    if (set == NULL) {
        return;
    }
    if (!uuid_equal(set->org.uuid, org.uuid) ||
        (own != NULL && !own->is_stale && uuid_equal(own->org.uuid, org.uuid) &&
         own->applied_seq >= set->applied_seq)) {
        rule_set_free(set);
        return;
    }
    rule_set_free(slot->set);
    slot->set = set;
    make_room(cache, slot);
}

enum err rule_cache_find(struct rule_cache *cache, struct store_txn *txn, struct org_id org,
                         uint64_t last_seq, struct rule_set **ret_set)
{
    struct rule_cache_slot *slot = slot_of(cache, org);
    struct rule_set *set = NULL;
    enum err err = OK;

    take_incoming(cache, slot, org);
    set = slot->set;
    *ret_set = NULL;
    if (set == NULL || set->is_stale || !uuid_equal(set->org.uuid, org.uuid)) {
        return OK;
    }
    err = rule_set_follow(set, txn, last_seq);
    cache->turn++;
    slot->used_at = cache->turn;
    if (err == OK && !set->is_stale) {
        *ret_set = set;
    }
    return err;
}

void rule_cache_offer(struct rule_cache *cache, struct rule_set *take_set)
{
    rule_set_free(atomic_exchange(&slot_of(cache, take_set->org)->incoming, take_set));
}

void rule_cache_forget(struct rule_cache *cache, struct org_id org)
{
    struct rule_cache_slot *slot = slot_of(cache, org);

    take_incoming(cache, slot,
                  org); /* a set of another organisation is loaded again when it is needed */
    if (slot->set != NULL && uuid_equal(slot->set->org.uuid, org.uuid)) {
        rule_set_free(slot->set);
        slot->set = NULL;
    }
}

void rule_cache_deinit(struct rule_cache *cache)
{
    for (size_t i = 0; i < RULE_CACHE_SLOTS; i++) {
        rule_set_free(cache->slots[i].set);
        rule_set_free(atomic_exchange(&cache->slots[i].incoming, NULL));
        cache->slots[i].set = NULL;
    }
}
