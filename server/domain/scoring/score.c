/*
 * score.c: see score.h.
 */
#include "server/domain/scoring/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool contains(struct slice pattern, struct slice word)
{
    return memmem(pattern.data, pattern.size, word.data, word.size) != NULL;
}

struct score_gates score_gates_of(struct slice pattern)
{
    return (struct score_gates){
        .missing_elements = contains(pattern, SLICE("missing_elements")),
        .layout = contains(pattern, SLICE("spacing")) || contains(pattern, SLICE("layout")),
    };
}

/* Returns 65 percent of an adjustment, rounded to the nearest unit (halves away from 0), within the limits. */
static int64_t reduce(int64_t adjustment)
{
    int64_t half = adjustment < 0 ? -50 : 50;
    int64_t reduced = (adjustment * SCORE_REDUCED_PERCENT + half) / 100;

    if (reduced > SCORE_REDUCED_MAX) {
        return SCORE_REDUCED_MAX;
    }
    return reduced < -SCORE_REDUCED_MAX ? -SCORE_REDUCED_MAX : reduced;
}

struct score_weight score_weigh(int64_t adjustment, struct score_gates gates,
                                const struct score_context *context)
{
    struct score_weight weight = {.weight = 0};

    if (gates.missing_elements && !context->missing_fields_enabled) {
        weight.suppressed_by = SCORE_GATE_MISSING_ELEMENTS;
    } else if (gates.layout && slice_starts_with(context->profile_subtype, SLICE("POS"))) {
        weight.suppressed_by = SCORE_GATE_POS_LAYOUT;
    } else {
        weight.reduced = context->profile_confidence < SCORE_CONFIDENCE_MIN;
    }
    weight.weight = score_weigh_again(adjustment, weight.suppressed_by, weight.reduced);
    return weight;
}

int64_t score_weigh_again(int64_t adjustment, enum score_gate suppressed_by, bool reduced)
{
    if (suppressed_by != SCORE_GATE_UNSPECIFIED) {
        return 0;
    }
    return reduced ? reduce(adjustment) : adjustment;
}

int64_t score_sum(const struct score_addend *addends, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += addends[i].weight;
    }
    return sum;
}

/* Compares by pattern, then by weight. */
static int compare_addends(const void *a, const void *b)
{
    const struct score_addend *left = a;
    const struct score_addend *right = b;

    if (left->pattern != right->pattern) {
        return left->pattern < right->pattern ? -1 : 1;
    }
    return (left->weight > right->weight) - (left->weight < right->weight);
}

int64_t score_sum_of_largest(struct score_addend *addends, size_t count)
{
    int64_t sum = 0;

    qsort(addends, count, sizeof(*addends), compare_addends);
    for (size_t i = 0; i < count; i++) {
        bool is_first = i == 0 || addends[i].pattern != addends[i - 1].pattern;
        bool is_last = i + 1 == count || addends[i].pattern != addends[i + 1].pattern;

        if ((is_first && addends[i].weight < 0) || (is_last && addends[i].weight > 0)) {
            sum += addends[i].weight;
        }
    }
    return sum;
}

double score_clamp(double score)
{
    if (score < 0) {
        return 0;
    }
    return score > 1 ? 1 : score;
}

enum verdict score_verdict(double score, const struct score_thresholds *thresholds)
{
    int64_t units = llround(score * (double)VERDICT_UNIT);

    if (units >= thresholds->fake_at) {
        return VERDICT_FAKE;
    }
    return units >= thresholds->suspicious_at ? VERDICT_SUSPICIOUS : VERDICT_REAL;
}
