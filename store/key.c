/*
 * key.c: builds keys from their parts.
 */
#include "store/key.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"

struct key key_global_prefix(void)
{
    struct key key = {.size = KEY_ORG_BYTES};

    return key;
}

struct key key_org(struct org_id org)
{
    static const struct uuid zero;
    struct key key;

    ASSERT(!uuid_equal(org.uuid, zero));
    memcpy(key.bytes, org.uuid.bytes, KEY_ORG_BYTES);
    key.size = KEY_ORG_BYTES;
    return key;
}

struct key key_org_seq(struct org_id org, uint64_t seq)
{
    struct key key = key_org(org);

    key_put_be64(&key, seq);
    return key;
}

struct key key_org_newest_first(struct org_id org, int64_t time_us, uint64_t seq)
{
    struct key key = key_org(org);

    key_put_newest_first(&key, time_us, seq);
    return key;
}

void key_put_bytes(struct key *key, const void *bytes, size_t size)
{
    ASSERT(key->size + size <= sizeof(key->bytes));
    memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
}

void key_put_byte(struct key *key, uint8_t byte)
{
    key_put_bytes(key, &byte, 1);
}

void key_put_be32(struct key *key, uint32_t value)
{
    uint8_t bytes[sizeof(value)];

    bytes_put_be32(bytes, value);
    key_put_bytes(key, bytes, sizeof(bytes));
}

void key_put_be64(struct key *key, uint64_t value)
{
    uint8_t bytes[sizeof(value)];

    bytes_put_be64(bytes, value);
    key_put_bytes(key, bytes, sizeof(bytes));
}

uint64_t key_invert_time(int64_t time_us)
{
    return ~((uint64_t)time_us ^ (1ull << 63));
}

void key_put_newest_first(struct key *key, int64_t time_us, uint64_t seq)
{
    key_put_be64(key, key_invert_time(time_us));
    key_put_be64(key, ~seq);
}

void key_put_oldest_first(struct key *key, int64_t time_us, uint64_t seq)
{
    key_put_be64(key, ~key_invert_time(time_us));
    key_put_be64(key, seq);
}

void key_put_hash(struct key *key, struct slice text)
{
    struct sha256_digest digest = sha256(text);

    key_put_bytes(key, digest.bytes, KEY_HASH_BYTES);
}

void key_put_padded(struct key *key, struct slice text, size_t width)
{
    ASSERT(key->size + width <= sizeof(key->bytes));
    memset(key->bytes + key->size, 0, width);
    if (text.size > 0) {
        memcpy(key->bytes + key->size, text.data, text.size < width ? text.size : width);
    }
    key->size += width;
}

enum err key_read_org_newest_seq(struct slice key, uint64_t *ret_seq)
{
    if (key.size != KEY_ORG_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = ~bytes_get_be64(key.data + KEY_ORG_BYTES);
    return OK;
}

enum err key_read_newest_first(struct slice key, int64_t *ret_time_us, uint64_t *ret_seq)
{
    const uint8_t *tail = NULL;

    if (key.size < KEY_ORG_BYTES + KEY_NEWEST_FIRST_BYTES) {
        return ERR_CORRUPT;
    }
    tail = key.data + key.size - KEY_NEWEST_FIRST_BYTES;
    *ret_time_us = (int64_t)(~bytes_get_be64(tail) ^ (1ull << 63));
    *ret_seq = ~bytes_get_be64(tail + sizeof(uint64_t));
    return OK;
}
