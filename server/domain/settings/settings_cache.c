/*
 * settings_cache.c: see settings_cache.h. An organisation's slot follows from the last byte of its id, which is random.
 */
#include "server/domain/settings/settings_cache.h"

enum err settings_cache_read(struct settings_cache *cache, struct store_txn *txn, struct org_id org,
                             uint64_t last_seq, struct settings *ret_settings)
{
    size_t slot = org.uuid.bytes[UUID_BYTES - 1] & (SETTINGS_CACHE_ENTRIES - 1);
    struct settings_cache_entry *entry = &cache->entries[slot];
    enum err err = OK;

    if (last_seq != 0 && entry->last_seq == last_seq && uuid_equal(entry->org.uuid, org.uuid)) {
        *ret_settings = entry->settings;
        return OK;
    }
    err = settings_read(txn, org, ret_settings);
    if (err == OK) {
        *entry = (struct settings_cache_entry){org, last_seq, *ret_settings};
    }
    return err;
}

void settings_cache_forget(struct settings_cache *cache, struct org_id org)
{
    struct settings_cache_entry *entry =
        &cache->entries[org.uuid.bytes[UUID_BYTES - 1] & (SETTINGS_CACHE_ENTRIES - 1)];

    if (uuid_equal(entry->org.uuid, org.uuid)) {
        *entry = (struct settings_cache_entry){.last_seq = 0};
    }
}
