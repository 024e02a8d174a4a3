/*
 * sha256.c: uses the low-level SHA256_* functions, which OpenSSL 3 deprecates. Fetching the digest
 * through EVP costs more than hashing a short text, and these cannot fail.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "store/base/sha256.h"

#include "store/base/assert.h"
#include "store/base/hex.h"

#include <openssl/sha.h>

_Static_assert(SHA256_BYTES == SHA256_DIGEST_LENGTH, "one size of digest");

struct sha256_digest sha256(struct slice bytes)
{
    return sha256_pieces(&bytes, 1);
}

struct sha256_digest sha256_pieces(const struct slice *pieces, size_t count)
{
    struct sha256_digest digest = {{0}};
    SHA256_CTX state;

    ASSERT(SHA256_Init(&state) == 1);
    for (size_t i = 0; i < count; i++) {
        ASSERT(SHA256_Update(&state, pieces[i].data, pieces[i].size) == 1);
    }
    ASSERT(SHA256_Final(digest.bytes, &state) == 1);
    return digest;
}

_Static_assert(sizeof(struct sha256_state) >= sizeof(SHA256_CTX), "it has room for OpenSSL's");

void sha256_begin(struct sha256_state *state)
{
    ASSERT(SHA256_Init((SHA256_CTX *)state->words) == 1);
}

void sha256_add(struct sha256_state *state, struct slice bytes)
{
    ASSERT(SHA256_Update((SHA256_CTX *)state->words, bytes.data, bytes.size) == 1);
}

struct sha256_digest sha256_read(const struct sha256_state *state)
{
    struct sha256_digest digest = {{0}};
    struct sha256_state copy = *state;

    ASSERT(SHA256_Final(digest.bytes, (SHA256_CTX *)copy.words) == 1);
    return digest;
}

void sha256_format(const struct sha256_digest *digest, char text[2 * SHA256_BYTES])
{
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        text[2 * i] = hex_digit(digest->bytes[i] >> 4);
        text[2 * i + 1] = hex_digit(digest->bytes[i]);
    }
}

static bool is_lower_hex(uint8_t digit)
{
    return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
}

bool sha256_parse(struct slice text, struct sha256_digest *ret_digest)
{
    struct sha256_digest digest = {{0}};

    if (text.size != (size_t)2 * SHA256_BYTES) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (!is_lower_hex(text.data[i])) {
            return false;
        }
        digest.bytes[i / 2] = (uint8_t)(digest.bytes[i / 2] << 4 | hex_value(text.data[i]));
    }
    *ret_digest = digest;
    return true;
}
