/*
 * bytes.h: big-endian integers of keys and frames, and whether bytes are all zero.
 */
#ifndef ERRATA_STORE_BASE_BYTES_H
#define ERRATA_STORE_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
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

static inline bool bytes_are_zero(const uint8_t *bytes, size_t size)
{
    uint8_t any = 0;

    for (size_t i = 0; i < size; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

#endif
