/*
 * bag.h: the words of a text, and their mean as a vector: each word weighted by its rarity (smooth inverse
 * frequency: Arora, Liang and Ma, "A simple but tough-to-beat baseline for sentence embeddings", 2017). Order does
 * not count; words without a vector are left out.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_BAG_H
#define ERRATA_SERVER_DOMAIN_EMBED_BAG_H

#include "server/domain/embed/model.h"
#include "store/base/arena.h"

/* Maximum words of a text that are read: LETTERS_MAX characters have fewer in practice. */
#define BAG_WORDS_MAX 512

/* The words of a text, in its order. */
struct bag {
    size_t count;
    struct slice at[BAG_WORDS_MAX]; /* UTF-8, in lower case */
};

/* Splits a text into runs of letters and digits, in the arena. An apostrophe ends a word, of which `s`, `re` and the
 * like are dropped; "don't" is "do" and "not". Fails only with ERR_MEMORY. */
MUST_CHECK enum err bag_split(struct arena *arena, struct slice text, struct bag *ret_bag);
/* Finds a word of a model's list. */
MUST_CHECK bool bag_find(const struct model_words *words, struct slice word, uint32_t *ret_index);
/* Writes MODEL_WORD_WIDTH numbers of length 1, or zeros if no word of the text has a vector. Fails only with
 * ERR_MEMORY. */
MUST_CHECK enum err bag_embed(const struct model *model, struct arena *arena, struct slice text,
                              float *ret_vector);

#endif
