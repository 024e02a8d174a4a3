/*
 * token.c: the text of a token.
 */
#include "server/auth/token.h"

#include "server/domain/admin/admin.h"

#include <openssl/crypto.h>

#define PREFIX "errata_"
#define PREFIX_BYTES (sizeof(PREFIX) - 1)
#define SECRET_AT (PREFIX_BYTES + ADMIN_KEY_ID_TEXT_BYTES + 1)

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct token_secret token_make_secret(struct random *random)
{
    struct token_secret secret;

    random_fill(random, secret.bytes, sizeof(secret.bytes));
    return secret;
}

struct sha256_digest token_hash_secret(const struct token_secret *secret)
{
    return sha256(slice_of(secret->bytes, sizeof(secret->bytes)));
}

void token_format(uint32_t key_id, const struct token_secret *secret, char text[TOKEN_TEXT_BYTES])
{
    uint32_t bits = 0;
    unsigned bit_count = 0;
    size_t at = SECRET_AT;

    memcpy(text, PREFIX, PREFIX_BYTES);
    admin_format_key_id(key_id, text + PREFIX_BYTES);
    text[SECRET_AT - 1] = '_';
    for (size_t i = 0; i < sizeof(secret->bytes); i++) {
        bits = bits << 8 | secret->bytes[i];
        bit_count += 8;
        while (bit_count >= 6) {
            bit_count -= 6;
            text[at++] = alphabet[bits >> bit_count & 63];
        }
    }
    text[at] = alphabet[bits << (6 - bit_count) & 63];
}

/* The six bits of a base64url character; -1 for any other. */
static int digit_of(uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z') {
        return byte - 'A';
    }
    if (byte >= 'a' && byte <= 'z') {
        return byte - 'a' + 26;
    }
    if (byte >= '0' && byte <= '9') {
        return byte - '0' + 52;
    }
    if (byte == '-') {
        return 62;
    }
    return byte == '_' ? 63 : -1;
}

/* Reads the 43 characters; false for others, and where the left-over bits are not zero. */
static bool parse_secret(const uint8_t *text, struct token_secret *secret)
{
    uint32_t bits = 0;
    unsigned bit_count = 0;
    size_t count = 0;

    for (size_t i = 0; i < TOKEN_SECRET_TEXT_BYTES; i++) {
        int digit = digit_of(text[i]);

        if (digit < 0) {
            return false;
        }
        bits = (bits << 6 | (uint32_t)digit) & 0xffff;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            secret->bytes[count++] = (uint8_t)(bits >> bit_count);
        }
    }
    return (bits & 3) == 0;
}

bool token_parse(struct slice text, uint32_t *ret_key_id, struct token_secret *ret_secret)
{
    struct token_secret secret;
    uint32_t key_id = 0;

    if (text.size != TOKEN_TEXT_BYTES || !slice_starts_with(text, SLICE(PREFIX)) ||
        text.data[SECRET_AT - 1] != '_' ||
        !admin_parse_key_id(slice_of(text.data + PREFIX_BYTES, ADMIN_KEY_ID_TEXT_BYTES), &key_id) ||
        !parse_secret(text.data + SECRET_AT, &secret)) {
        return false;
    }
    *ret_key_id = key_id;
    *ret_secret = secret;
    return true;
}

void token_cleanse(void *bytes, size_t size)
{
    OPENSSL_cleanse(bytes, size);
}
