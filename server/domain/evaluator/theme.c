/*
 * theme.c: see theme.h. The maps from cosines to scores are fitted with tests/bench/evaluator_accuracy.c.
 */
#include "server/domain/evaluator/theme.h"

#include "store/base/assert.h"

#include <math.h>

#define KNOTS 5

struct knot {
    double cosine;
    double shown;
};

static double length_of(const float *vector, size_t width)
{
    double sum = 0;

    for (size_t i = 0; i < width; i++) {
        sum += (double)vector[i] * (double)vector[i];
    }
    return sqrt(sum);
}

static int16_t scale(double number)
{
    return (int16_t)lrint(number * THEME_SCALE);
}

enum err theme_make(struct arena *arena, const float *vector, size_t width,
                    const struct comment_signals *signals, struct theme *ret_theme)
{
    bool has_concepts = signals != NULL && signals->concept_count > 0;
    double concepts = has_concepts ? THEME_CONCEPTS_HUNDREDTHS / 100.0 : 0;
    double length = length_of(vector, width);
    struct theme theme = {.width = width + (signals != NULL ? LEXICON_CONCEPTS_MAX : 0)};

    ASSERT(width <= THEME_VECTOR_WIDTH_MAX);
    theme.numbers = arena_calloc(arena, theme.width, sizeof(*theme.numbers));
    if (theme.numbers == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < width && length > 0; i++) {
        theme.numbers[i] = scale((double)vector[i] / length * sqrt(1 - concepts));
    }
    for (size_t i = 0; i < LEXICON_CONCEPTS_MAX && has_concepts; i++) {
        if (signals->concepts[i]) {
            theme.numbers[width + i] = scale(sqrt(concepts / (double)signals->concept_count));
        }
    }
    *ret_theme = theme;
    return OK;
}

double theme_cosine(const int16_t *a, const int16_t *b, size_t width)
{
    int64_t sum = 0;

    for (size_t i = 0; i < width; i++) {
        sum += (int32_t)a[i] * (int32_t)b[i];
    }
    return (double)sum / ((double)THEME_SCALE * THEME_SCALE);
}

double theme_mean_cosine(const int16_t *a, const int32_t *sum, size_t width, uint32_t count)
{
    int64_t product = 0;

    ASSERT(count > 0);
    for (size_t i = 0; i < width; i++) {
        product += (int64_t)a[i] * (int64_t)sum[i];
    }
    return (double)product / ((double)THEME_SCALE * THEME_SCALE * (double)count);
}

double theme_show(enum theme_kind kind, double cosine)
{
    static const struct knot maps[][KNOTS] = {
        [THEME_OF_MODEL] = {{0, 0}, {0.28, 0.5}, {0.43, 0.8}, {0.72, 0.92}, {1, 1}},
        [THEME_OF_NGRAMS] = {{0, 0}, {0.24, 0.5}, {0.38, 0.8}, {0.68, 0.92}, {1, 1}},
        [THEME_OF_CALLER] = {{0, 0}, {0.25, 0.25}, {0.5, 0.5}, {0.75, 0.75}, {1, 1}},
    };
    const struct knot *map = maps[kind];
    double shown = cosine >= 1 ? 1 : 0;

    for (size_t i = 1; i < KNOTS; i++) {
        if (cosine > map[i - 1].cosine && cosine <= map[i].cosine) {
            shown = map[i - 1].shown + (map[i].shown - map[i - 1].shown) *
                                           (cosine - map[i - 1].cosine) /
                                           (map[i].cosine - map[i - 1].cosine);
        }
    }
    return nearbyint(shown * 1e6) / 1e6;
}
