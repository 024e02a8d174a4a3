/*
 * sha256.h: SHA-256 (FIPS 180-4) by OpenSSL, in one piece or several.
 */
#ifndef ERRATA_STORE_BASE_SHA256_H
#define ERRATA_STORE_BASE_SHA256_H

#include "store/base/slice.h"

#define SHA256_BYTES 32

struct sha256_digest {
    uint8_t bytes[SHA256_BYTES];
};

struct sha256_digest sha256(struct slice bytes);
/* Returns the digest of several pieces, concatenated. */
struct sha256_digest sha256_pieces(const struct slice *pieces, size_t count);
/* State of hashing bytes that arrive in pieces. */
struct sha256_state {
    uint64_t words[14]; /* state of OpenSSL */
};
void sha256_begin(struct sha256_state *state);
void sha256_add(struct sha256_state *state, struct slice bytes);
/* Returns the digest of all bytes so far; more may be added. */
struct sha256_digest sha256_read(const struct sha256_state *state);
/* 64 lower-case hex digits, without NUL. */
void sha256_format(const struct sha256_digest *digest, char text[2 * SHA256_BYTES]);
/* Reads a digest in the form of sha256_format; false for any other text, including upper-case
 * digits. */
bool sha256_parse(struct slice text, struct sha256_digest *ret_digest);

#endif
