/*
 * bytes_hash.h: a hash for tables in memory. It is seeded, so that no one can choose keys that share a bucket; it depends
 * on the machine's byte order, so it is never stored.
 */
#ifndef ERRATA_STORE_BASE_BYTES_HASH_H
#define ERRATA_STORE_BASE_BYTES_HASH_H

#include "store/base/slice.h"

/* Returns a hash, by multiplication and shift of the 8-byte words; its lowest bits select a bucket. */
static inline uint32_t bytes_hash(struct slice bytes, uint64_t seed)
{
    uint64_t hash = seed ^ (bytes.size * UINT64_C(0x9e3779b97f4a7c15));

    for (size_t at = 0; at < bytes.size; at += sizeof(uint64_t)) {
        size_t left = bytes.size - at;
        uint64_t word = 0;

        memcpy(&word, bytes.data + at, left < sizeof(word) ? left : sizeof(word));
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    hash *= seed | 1;
    return (uint32_t)(hash >> 32);
}

#endif
