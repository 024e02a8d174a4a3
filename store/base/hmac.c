/*
 * hmac.c: HMAC by the low-level SHA256_* functions, whose state after the first block is what a
 * prepared key stores.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "store/base/hmac.h"

#include "store/base/assert.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#define INNER_PAD 0x36
#define OUTER_PAD 0x5c
#define BLOCK_BITS (8 * SHA256_CBLOCK)

_Static_assert(HMAC_SECRET_BYTES_MAX == SHA256_CBLOCK, "a secret fills at most one block");

/* Hashes one block: the secret, padded with zeros, combined with a pad. */
static void hash_block(struct slice secret, uint8_t pad, uint32_t words[8])
{
    uint8_t block[SHA256_CBLOCK] = {0};
    SHA256_CTX state;

    if (secret.size > 0) {
        memcpy(block, secret.data, secret.size);
    }
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] ^= pad;
    }
    ASSERT(SHA256_Init(&state) == 1);
    ASSERT(SHA256_Update(&state, block, sizeof(block)) == 1);
    memcpy(words, state.h, sizeof(state.h));
    OPENSSL_cleanse(block, sizeof(block));
}

void hmac_key_init(struct hmac_key *key, struct slice secret)
{
    ASSERT(secret.size <= HMAC_SECRET_BYTES_MAX);
    hash_block(secret, INNER_PAD, key->inner);
    hash_block(secret, OUTER_PAD, key->outer);
}

/* Continues after a hashed block. */
static void resume_hash(SHA256_CTX *state, const uint32_t words[8])
{
    memcpy(state->h, words, sizeof(state->h));
    state->Nl = BLOCK_BITS;
    state->Nh = 0;
    state->num = 0;
    state->md_len = SHA256_DIGEST_LENGTH;
}

struct sha256_digest hmac_sha256(const struct hmac_key *key, const struct slice *pieces,
                                 size_t count)
{
    struct sha256_digest digest;
    SHA256_CTX state;

    resume_hash(&state, key->inner);
    for (size_t i = 0; i < count; i++) {
        ASSERT(SHA256_Update(&state, pieces[i].data, pieces[i].size) == 1);
    }
    ASSERT(SHA256_Final(digest.bytes, &state) == 1);
    resume_hash(&state, key->outer);
    ASSERT(SHA256_Update(&state, digest.bytes, sizeof(digest.bytes)) == 1);
    ASSERT(SHA256_Final(digest.bytes, &state) == 1);
    return digest;
}

bool hmac_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}
