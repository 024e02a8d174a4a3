/*
 * token.h: the text of a token, `errata_<8 hex key id>_<43 base64url characters>`: reading, writing,
 * hashing. The 43 characters are 32 random bytes; the two bits that are left over are zero, so that
 * each token has only one text.
 */
#ifndef ERRATA_SERVER_AUTH_TOKEN_H
#define ERRATA_SERVER_AUTH_TOKEN_H

#include "store/base/random.h"
#include "store/base/sha256.h"

#define TOKEN_SECRET_BYTES 32
#define TOKEN_TEXT_BYTES 59 /* 7 + 8 + 1 + 43 characters, without NUL */

struct token_secret {
    uint8_t bytes[TOKEN_SECRET_BYTES];
};

/* Creates a random secret. */
struct token_secret token_make_secret(struct random *random);
/* Returns the hash that the store keeps. */
struct sha256_digest token_hash_secret(const struct token_secret *secret);
void token_format(uint32_t key_id, const struct token_secret *secret, char text[TOKEN_TEXT_BYTES]);
/* Returns false if the text is not a token's. */
bool token_parse(struct slice text, uint32_t *ret_key_id, struct token_secret *ret_secret);
/* Returns whether two token texts are equal, in a time that does not depend on where they
 * differ. */
bool token_texts_equal(const void *a, const void *b);
/* Overwrites a secret's bytes in a way that compilers do not remove. */
void token_cleanse(void *bytes, size_t size);

#endif
