/*
 * redaction_internal.h: shared by the patterns of redaction: the characters of a text in a plain
 * form, and the place where a pattern is searched. A pattern reads a bounded number of characters
 * unless it matches, so that redaction takes time proportional to the text.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_REDACTION_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_REDACTION_INTERNAL_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Represent a letter, and any other character, to which no ASCII character is similar. */
#define PLAIN_LETTER 0x80
#define PLAIN_OTHER 0x81

/* The characters of a text, one byte each: the ASCII character that it is or resembles, or one of the above. */
struct plain_text {
    struct slice characters;
    const uint32_t *offsets; /* offsets of the characters in the text; NULL: they are the same */
};

/* Reads valid UTF-8, into the arena. ERR_MEMORY. */
MUST_CHECK enum err plain_text_read(struct arena *arena, struct slice text,
                                    struct plain_text *ret_plain);
/* Returns the offset of a character in the text, or of its end. */
size_t plain_text_offset(const struct plain_text *plain, size_t character);

/* The place where a pattern is searched. */
struct redaction_place {
    struct slice before; /* text since the last match */
    struct slice text;
};

/* Each returns the number of characters that match its pattern at a place; 0: no match. */
typedef size_t match_fn(const struct redaction_place *place);

size_t match_phone(const struct redaction_place *place);
/* Matches a number that is certainly not private: a date, or one after a word for article numbers. */
size_t match_honest_number(const struct redaction_place *place);
/* Matches the value after a word that marks it as a secret, with the word. */
size_t match_labelled_secret(const struct redaction_place *place);
/* Matches a key with a known prefix. */
size_t match_prefixed_secret(const struct redaction_place *place);
/* Matches a private key between its lines of dashes. */
size_t match_key_block(const struct redaction_place *place);
/* Matches user and password of a URL. */
size_t match_url_credentials(const struct redaction_place *place);
/* Matches a word that only a machine makes. */
size_t match_random_word(const struct redaction_place *place);

static inline bool plain_is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static inline bool plain_is_small(uint8_t byte)
{
    return byte >= 'a' && byte <= 'z';
}

static inline bool plain_is_capital(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z';
}

/* Returns whether the character is an ASCII letter. */
static inline bool plain_is_letter(uint8_t byte)
{
    return plain_is_small(byte) || plain_is_capital(byte);
}

static inline bool plain_is_word(uint8_t byte)
{
    return plain_is_digit(byte) || plain_is_letter(byte);
}

static inline bool plain_is_one_of(uint8_t byte, const char *set)
{
    return byte != 0 && strchr(set, byte) != NULL;
}

/* Returns the character at a place in a text; 0 after its end. */
static inline uint8_t plain_at(struct slice text, size_t at)
{
    return at < text.size ? text.data[at] : 0;
}

/* Returns whether a text starts with an ASCII word, in any case. */
bool plain_starts_with(struct slice text, const char *word);

#endif
