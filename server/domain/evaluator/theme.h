/*
 * theme.h: how similar the requests of two comments are. A theme is a vector of integers: the embedder's
 * vector, and the comment's concepts, weighted, so that one product compares both and sums of themes are
 * exact. A caller's own vector is a theme without concepts. Themes of different spaces are never compared.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVALUATOR_THEME_H
#define ERRATA_SERVER_DOMAIN_EVALUATOR_THEME_H

#include "server/domain/evaluator/signals.h"

/* Maximum length of a theme: a vector of an embedder or of a caller, and the concepts. */
#define THEME_VECTOR_WIDTH_MAX 4096
#define THEME_WIDTH_MAX (THEME_VECTOR_WIDTH_MAX + LEXICON_CONCEPTS_MAX)
/* Scale of a theme: its numbers are those of a vector of length 1 times this. */
#define THEME_SCALE 8192
/* Share of the concepts in the similarity of two comments that have some, in hundredths. */
#define THEME_CONCEPTS_HUNDREDTHS 60
/* Minimum shown score of two decisions in one cluster. */
#define THEME_SAME_SHOWN 0.8

enum theme_kind {
    THEME_OF_MODEL, /* the embedder with a model, and concepts */
    THEME_OF_NGRAMS, /* the embedder without a model, and concepts */
    THEME_OF_CALLER
};

struct theme {
    int16_t *numbers; /* in the arena */
    size_t width;
};

/* Makes a theme of an embedder's vector, and of signals (NULL: a caller's vector without concepts). The vector need not
 * have length 1. Fails only with ERR_MEMORY. */
MUST_CHECK enum err theme_make(struct arena *arena, const float *vector, size_t width,
                               const struct comment_signals *signals, struct theme *ret_theme);
/* Returns the product of two themes as a cosine; for a theme and a sum of `count` themes, their mean cosine. */
double theme_cosine(const int16_t *a, const int16_t *b, size_t width);
double theme_mean_cosine(const int16_t *a, const int32_t *sum, size_t width, uint32_t count);
/* Returns the shown score of a cosine, 0 to 1, rounded to millionths. */
double theme_show(enum theme_kind kind, double cosine);

#endif
