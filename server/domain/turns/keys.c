/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/turns/keys.h"

struct turn_hash turn_hash_of(struct slice session_id, struct slice turn_id)
{
    struct key key = {.size = 0};
    struct turn_hash hash;

    key_put_hash(&key, session_id);
    key_put_hash(&key, turn_id);
    memcpy(&hash, key.bytes, sizeof(hash));
    return hash;
}

enum err turn_hash_read(struct slice value, struct turn_hash *ret_hash)
{
    if (value.size != sizeof(*ret_hash)) {
        return ERR_CORRUPT;
    }
    memcpy(ret_hash, value.data, sizeof(*ret_hash));
    return OK;
}

struct key key_turn(struct org_id org, const struct turn_hash *hash)
{
    struct key key = key_org(org);

    key_put_bytes(&key, hash, sizeof(*hash));
    return key;
}

struct key key_turn_time(struct org_id org, int64_t created_at_us, uint64_t seq)
{
    return key_org_newest_first(org, created_at_us, seq);
}

struct key key_turn_session_prefix(struct org_id org, const struct turn_hash *hash)
{
    struct key key = key_org(org);

    key_put_bytes(&key, hash->session, sizeof(hash->session));
    return key;
}

struct key key_turn_session(struct org_id org, const struct turn_hash *hash, int64_t created_at_us,
                            uint64_t seq)
{
    struct key key = key_turn_session_prefix(org, hash);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_turn_status_prefix(struct org_id org, uint32_t status)
{
    struct key key = key_org(org);

    key_put_byte(&key, (uint8_t)status);
    return key;
}

struct key key_turn_status(struct org_id org, uint32_t status, int64_t created_at_us, uint64_t seq)
{
    struct key key = key_turn_status_prefix(org, status);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_turn_judged(struct org_id org, uint64_t detection_seq)
{
    return key_org_seq(org, ~detection_seq);
}
