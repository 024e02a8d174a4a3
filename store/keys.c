/*
 * keys.c: the keys of the store's own tables; FORMAT.md documents their bytes.
 */
#include "store/keys.h"

#include "store/base/bytes.h"

struct key key_event(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_event_id(struct org_id org, struct uuid id)
{
    struct key key = key_org(org);

    key_put_bytes(&key, id.bytes, sizeof(id.bytes));
    return key;
}

struct key key_subject_prefix(struct org_id org, uint8_t kind, struct slice id)
{
    struct key key = key_org(org);

    key_put_byte(&key, kind);
    key_put_hash(&key, id);
    return key;
}

struct key key_subject(struct org_id org, uint8_t kind, struct slice id, int64_t created_at_us,
                       uint64_t seq)
{
    struct key key = key_subject_prefix(org, kind, id);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_backfill(struct org_id org, int64_t created_at_us, uint64_t seq)
{
    return key_org_newest_first(org, created_at_us, seq);
}

struct key key_idempotency(struct org_id org, uint32_t hour, const uint8_t hash[16])
{
    struct key key = key_org(org);

    key_put_be32(&key, hour);
    key_put_bytes(&key, hash, KEY_HASH_BYTES);
    return key;
}

struct key key_meta_global(struct slice name)
{
    struct key key = key_global_prefix();

    key_put_bytes(&key, name.data, name.size);
    return key;
}

enum err key_read_event(struct slice key, uint64_t *ret_seq)
{
    if (key.size != KEY_ORG_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + KEY_ORG_BYTES);
    return OK;
}
