/*
 * ngrams.h: a vector of a text's sequences of three and four characters: finds texts that share
 * words or parts of words, in any language, without a model. Case, punctuation and the form of
 * white space are ignored.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_NGRAMS_H
#define ERRATA_SERVER_DOMAIN_EMBED_NGRAMS_H

#include "store/base/arena.h"

/* Length of a vector; sequences are hashed to its elements. */
#define NGRAMS_WIDTH 512

/* Writes NGRAMS_WIDTH numbers of length 1, or zeros if the text has no letter or digit. Fails only
 * with ERR_MEMORY. */
MUST_CHECK enum err ngrams_of(struct arena *arena, struct slice text, float *ret_vector);

#endif
