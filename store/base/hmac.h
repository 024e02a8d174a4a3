/*
 * hmac.h: HMAC-SHA256 (RFC 2104) with a prepared key: the two blocks that begin every message with
 * the same key are hashed in advance, which halves the cost of a short message.
 */
#ifndef ERRATA_STORE_BASE_HMAC_H
#define ERRATA_STORE_BASE_HMAC_H

#include "store/base/sha256.h"

/* Limit of a secret; longer ones add no strength. */
#define HMAC_SECRET_BYTES_MAX 64

/* SHA-256 states after the block of the inner and of the outer key. As secret as the key. */
struct hmac_key {
    uint32_t inner[8];
    uint32_t outer[8];
};

/* Prepares a key of at most HMAC_SECRET_BYTES_MAX bytes. */
void hmac_key_init(struct hmac_key *key, struct slice secret);
/* Returns the code of several pieces, concatenated. */
struct sha256_digest hmac_sha256(const struct hmac_key *key, const struct slice *pieces,
                                 size_t count);
/* Returns whether two codes are equal, in a time that does not depend on where they differ. */
bool hmac_equal(const uint8_t *a, const uint8_t *b, size_t size);

#endif
