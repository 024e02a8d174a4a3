/*
 * bytes.h: big-endian integers of keys and frames.
 */
#ifndef ERRATA_STORE_BASE_BYTES_H
#define ERRATA_STORE_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline void bytes_put_be32(uint8_t *at, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(at, &value, sizeof(value));
}

static inline void bytes_put_be64(uint8_t *at, uint64_t value)
{
    value = __builtin_bswap64(value);
    memcpy(at, &value, sizeof(value));
}

static inline uint32_t bytes_get_be32(const uint8_t *at)
{
    uint32_t value = 0;

    memcpy(&value, at, sizeof(value));
    return __builtin_bswap32(value);
}

static inline uint64_t bytes_get_be64(const uint8_t *at)
{
    uint64_t value = 0;

    memcpy(&value, at, sizeof(value));
    return __builtin_bswap64(value);
}

#endif
