/*
 * words.h: splits an English text into words as cues and rules compare them: folded, with a stem
 * that unites the forms of a word. Meanings of words are in server/domain/lexicon.
 */
#ifndef ERRATA_SERVER_DOMAIN_WORDS_WORDS_H
#define ERRATA_SERVER_DOMAIN_WORDS_WORDS_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Maximum words of a text that are compared; a comment or a rule has fewer, and later ones are ignored. */
#define WORDS_MAX 400
/* Maximum bytes of a stem. */
#define WORD_STEM_BYTES_MAX 64

/* The separator between a word and the previous one. */
enum word_gap {
    WORD_GAP_SPACE, /* a space or a hyphen */
    WORD_GAP_COMMA, /* a comma, dash, colon or parenthesis */
    WORD_GAP_END /* the end of a sentence, or the start of the text */
};

struct word {
    struct slice text; /* folded, in the arena of the words */
    struct slice stem; /* stem of the word; in the same arena */
    uint64_t hash; /* hash of the stem */
    enum word_gap gap;
    bool is_number; /* digits, with or without a point between them */
    bool is_percent; /* a number before `%` */
};

struct words {
    struct word *items; /* in the arena */
    size_t count; /* at most WORDS_MAX */
};

/* Splits a text of valid UTF-8. A word is letters, digits, `_`, and apostrophes or points within;
 * digits at its start are a word of their own. Fails only with
 * ERR_MEMORY. */
MUST_CHECK enum err words_split(struct arena *arena, struct slice text, struct words *ret_words);
/* Writes the stem of a folded word and returns its size, at most WORD_STEM_BYTES_MAX. */
size_t word_stem(struct slice word, uint8_t stem[WORD_STEM_BYTES_MAX]);
/* Returns the hash of a stem. */
uint64_t word_hash(struct slice stem);

#endif
