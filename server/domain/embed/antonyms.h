/*
 * antonyms.h: whether two texts differ in a word and its opposite: "turn the lights on" and "turn the lights off" are
 * similar, but not the same. Uses the pairs of a model file (from WordNet) and simple inflections of their words.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_ANTONYMS_H
#define ERRATA_SERVER_DOMAIN_EMBED_ANTONYMS_H

#include "server/domain/embed/model.h"
#include "store/base/arena.h"

/* A word of the first text and its opposite in the second, as the model lists them. */
struct antonyms {
    bool found;
    struct slice first; /* borrowed from the model's file */
    struct slice second;
};

/* Finds a word that only the first text has and whose antonym only the second has. If one text has an odd number
 * of negations (not, never, without ...) more than the other, opposites mean the same, so no pair
 * is found: "do not turn it on" and "turn it off". A model without antonyms finds no pair. Fails
 * only with ERR_MEMORY. */
MUST_CHECK enum err antonyms_find(const struct model *model, struct arena *arena, struct slice a,
                                  struct slice b, struct antonyms *ret_antonyms);

#endif
