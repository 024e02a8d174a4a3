/*
 * settings_cache.h: a cache of settings by organisation and last event. The settings after an event
 * never change, so an entry is valid for any snapshot whose log ends with that event, which a
 * lookup knows in any case. For one thread; exists as long as the server.
 */
#ifndef ERRATA_SERVER_DOMAIN_SETTINGS_SETTINGS_CACHE_H
#define ERRATA_SERVER_DOMAIN_SETTINGS_SETTINGS_CACHE_H

#include "server/domain/settings/settings.h"

/* Organisations in the cache, at most one per slot; a power of two. A server has tens of active
 * organisations; 64 entries take 4 KB. */
#define SETTINGS_CACHE_ENTRIES 64

struct settings_cache_entry {
    struct org_id org;
    uint64_t last_seq; /* 0: the entry is empty */
    struct settings settings;
};

/* Zeroed: empty. */
struct settings_cache {
    struct settings_cache_entry entries[SETTINGS_CACHE_ENTRIES];
};

/* Returns the organisation's settings after its last event `last_seq`, which is also the last one of the transaction's
 * snapshot. */
MUST_CHECK enum err settings_cache_read(struct settings_cache *cache, struct store_txn *txn,
                                        struct org_id org, uint64_t last_seq,
                                        struct settings *ret_settings);
/* Empties the entry of an organisation that was deleted. */
void settings_cache_forget(struct settings_cache *cache, struct org_id org);

#endif
