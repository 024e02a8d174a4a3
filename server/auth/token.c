/*
 * token.c: the text of a token.
 */
#include "server/auth/token.h"

#include "server/domain/admin/admin.h"
#include "store/base/base64.h"

#include <openssl/crypto.h>

#define PREFIX "errata_"
#define PREFIX_BYTES (sizeof(PREFIX) - 1)
#define SECRET_AT (PREFIX_BYTES + ADMIN_KEY_ID_TEXT_BYTES + 1)
#define LAST_WORD_AT (TOKEN_TEXT_BYTES - sizeof(uint64_t))

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
    memcpy(text, PREFIX, PREFIX_BYTES);
    admin_format_key_id(key_id, text + PREFIX_BYTES);
    text[SECRET_AT - 1] = '_';
    (void)base64_write(slice_of(secret->bytes, sizeof(secret->bytes)), BASE64_URL,
                       (uint8_t *)text + SECRET_AT);
}

bool token_parse(struct slice text, uint32_t *ret_key_id, struct token_secret *ret_secret)
{
    struct token_secret secret;
    uint32_t key_id = 0;
    size_t size = 0;

    if (text.size != TOKEN_TEXT_BYTES || !slice_starts_with(text, SLICE(PREFIX)) ||
        text.data[SECRET_AT - 1] != '_' ||
        !admin_parse_key_id(slice_of(text.data + PREFIX_BYTES, ADMIN_KEY_ID_TEXT_BYTES), &key_id) ||
        !base64_read(slice_after(text, SECRET_AT), BASE64_URL | BASE64_EXACT, secret.bytes,
                     &size)) {
        return false;
    }
    *ret_key_id = key_id;
    *ret_secret = secret;
    return true;
}

bool token_texts_equal(const void *a, const void *b)
{
    const uint8_t *left = a;
    const uint8_t *right = b;
    uint64_t differences = 0;

    /* Compares eight bytes at a time; the last word overlaps the one before it. */
    for (size_t at = 0; at < TOKEN_TEXT_BYTES; at += sizeof(uint64_t)) {
        size_t from = at < LAST_WORD_AT ? at : LAST_WORD_AT;
        uint64_t words[2];

        memcpy(&words[0], left + from, sizeof(words[0]));
        memcpy(&words[1], right + from, sizeof(words[1]));
        differences |= words[0] ^ words[1];
    }
    return differences == 0;
}

void token_cleanse(void *bytes, size_t size)
{
    OPENSSL_cleanse(bytes, size);
}
