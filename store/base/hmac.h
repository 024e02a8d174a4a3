/*
 * hmac.h: HMAC-SHA256 (RFC 2104) with a key that is prepared once: the two blocks that every message
 * under one key begins with are hashed beforehand, which halves the cost of a short message.
 */
#ifndef ERRATA_STORE_BASE_HMAC_H
#define ERRATA_STORE_BASE_HMAC_H

#include "store/base/sha256.h"

/* The longest secret; longer ones say no more. */
#define HMAC_SECRET_BYTES_MAX 64

/* SHA-256 after the block of the inner key, and after that of the outer. As secret as the key. */
struct hmac_key {
    uint32_t inner[8];
    uint32_t outer[8];
};

/* Prepares a key of at most HMAC_SECRET_BYTES_MAX bytes. */
void hmac_key_init(struct hmac_key *key, struct slice secret);
/* The code of several pieces one after the other. */
struct sha256_digest hmac_sha256(const struct hmac_key *key, const struct slice *pieces,
                                 size_t count);
/* Whether two codes are equal, in a time that tells nothing about where they differ. */
bool hmac_equal(const uint8_t *a, const uint8_t *b, size_t size);

#endif
