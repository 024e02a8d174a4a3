/*
 * tokens.h: splits a text into pieces of the encoder's vocabulary: the segmentation of sentencepiece
 * with the highest sum of scores, computed exactly like the reference implementation: of two equal sums the one
 * with the later start is used; a character that begins no piece is the unknown piece with score 0; after a
 * position that no piece reaches, sums start from 0 again. Any bytes are allowed; invalid UTF-8 becomes U+FFFD.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_TOKENS_H
#define ERRATA_SERVER_DOMAIN_EMBED_TOKENS_H

#include "server/domain/embed/model.h"
#include "store/base/arena.h"

/* The tokens of a text. */
struct tokens {
    uint16_t ids[MODEL_TOKENS_MAX];
    size_t count; /* 0 only for the empty text */
};

/* Splits a text; later tokens than the first MODEL_TOKENS_MAX are dropped. Fails only with
 * ERR_MEMORY. */
MUST_CHECK enum err tokens_of(const struct model *model, struct arena *arena, struct slice text,
                              struct tokens *ret_tokens);

#endif
