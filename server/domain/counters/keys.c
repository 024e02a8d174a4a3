/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/counters/keys.h"

#include "store/base/bytes.h"

struct key key_counter_day_prefix(struct org_id org, uint32_t day)
{
    struct key key = key_org(org);

    key_put_be32(&key, day);
    return key;
}

struct key key_counter(struct org_id org, uint32_t day, enum counter_dimension dimension,
                       struct slice name)
{
    struct key key = key_counter_day_prefix(org, day);

    key_put_byte(&key, (uint8_t)dimension);
    key_put_hash(&key, name);
    return key;
}

enum err key_read_counter(struct slice key, uint32_t *ret_day,
                          enum counter_dimension *ret_dimension)
{
    uint8_t dimension = 0;

    if (key.size != KEY_ORG_BYTES + sizeof(uint32_t) + 1 + KEY_HASH_BYTES) {
        return ERR_CORRUPT;
    }
    dimension = key.data[KEY_ORG_BYTES + sizeof(uint32_t)];
    if (dimension == 0 || dimension > COUNTER_DIMENSION_MAX) {
        return ERR_CORRUPT;
    }
    *ret_day = bytes_get_be32(key.data + KEY_ORG_BYTES);
    *ret_dimension = (enum counter_dimension)dimension;
    return OK;
}
