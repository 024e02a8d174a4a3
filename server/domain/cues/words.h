/*
 * words.h: splits a message into words for matching cues: letters without case, accents and
 * apostrophes, and the position of each word. Recognises sentences, clauses and quotations, but no
 * meaning. Any valid UTF-8 is accepted: time and memory grow with its first CUE_WORDS_BYTES_MAX
 * bytes.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_WORDS_H
#define ERRATA_SERVER_DOMAIN_CUES_WORDS_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Maximum words of a text that are read: messages are read in full, long responses only at their beginning. */
#define CUE_WORDS_MAX 512
/* Maximum bytes of a text that are read: 512 words of 16 letters. */
#define CUE_WORDS_BYTES_MAX ((size_t)8 * 1024)
/* Maximum bytes of a folded word; the rest of a longer one is dropped. No cue is as long. */
#define CUE_WORD_BYTES_MAX 40

/* A word. */
struct cue_word {
    struct slice text; /* folded; in the arena of the words */
    uint32_t from; /* its place in the text, in bytes */
    uint32_t to;
    uint16_t entry; /* its entry in a lexicon, 0: none; set by cue_lexicon_enter */
    bool begins_sentence; /* the first word, or after a full stop, a question mark or a line end */
    bool begins_clause; /* the same, or after a comma, a dash, a colon or a bracket */
    bool is_asked; /* the sentence that it is in ends with a question mark */
    bool is_quoted; /* within quotation marks */
    bool is_masked; /* matches no cue: quoted, or part of a title; set by masks.c */
    bool is_capital; /* begins with an upper-case letter */
    bool is_upper; /* has two or more letters, all upper-case */
    bool has_digit;
};

/* The words of a text. */
struct cue_words {
    struct slice text; /* borrowed */
    struct cue_word *items;
    size_t count;
};

/* Splits valid UTF-8 into words. Fails only with ERR_MEMORY. */
MUST_CHECK enum err words_of(struct arena *arena, struct slice text, struct cue_words *ret_words);
/* Returns whether two words are equal except for the `s` or `es` of a plural. */
bool words_equal_stem(struct slice a, struct slice b);
/* Returns whether two words differ by one letter, not the first, that is missing, added, replaced, or swapped with the
 * next. */
bool words_differ_by_typo(struct slice typed, struct slice meant);

#endif
