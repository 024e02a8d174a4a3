/*
 * encoder.h: the forward pass of Universal Sentence Encoder Lite: tokens to a vector of 512 numbers
 * with length 1. Several texts share a pass, since a weight is then read once for all. Pure functions.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_ENCODER_H
#define ERRATA_SERVER_DOMAIN_EMBED_ENCODER_H

#include "server/domain/embed/linear.h"
#include "server/domain/embed/tokens.h"

/* Maximum tokens of a pass, at least MODEL_TOKENS_MAX: more save no time, and need 20 KiB of memory each. */
#define ENCODER_PASS_TOKENS_MAX MODEL_TOKENS_MAX

/* Writes a vector of MODEL_WIDE numbers for each text to `ret_vectors`; a text without tokens has
 * zeros. The arena is used for less than 3 MiB. Fails only with ERR_MEMORY. */
MUST_CHECK enum err encoder_embed(const struct model *model, enum linear_path path,
                                  struct arena *arena, const struct tokens *texts, size_t count,
                                  float *ret_vectors);

#endif
