/*
 * weight.c: see weight.h.
 */
#include "server/domain/weights/weight.h"

#include "server/domain/analytics/proportions.h"

#include <math.h>

/* The prior counts of firings of every rule. */
#define PRIOR_AGREED 7
#define PRIOR_FIRINGS 10

/* Returns the weight for a probability from 0 to 1. */
static int64_t weight_at(int64_t first_adjustment, double probability)
{
    double magnitude = fabs((double)first_adjustment) * log(probability / (1 - probability)) /
                       log((double)PRIOR_AGREED / (PRIOR_FIRINGS - PRIOR_AGREED));
    int64_t weight = 0;

    if (first_adjustment != 0 && magnitude > 0) {
        weight = magnitude < WEIGHT_MAX ? (int64_t)llround(magnitude) : WEIGHT_MAX;
    }
    return first_adjustment < 0 ? -weight : weight;
}

bool weight_suggest(int64_t first_adjustment, uint64_t agreed, uint64_t disagreed,
                    struct weight_suggestion *ret_suggestion)
{
    const struct proportion firings = {agreed, agreed + disagreed};
    struct proportion_interval interval;
    int64_t low = 0;
    int64_t high = 0;

    if (agreed + disagreed < WEIGHT_FIRINGS_MIN || !proportion_interval_of(&firings, &interval)) {
        return false;
    }
    low = weight_at(first_adjustment, interval.low);
    high = weight_at(first_adjustment, interval.high);
    *ret_suggestion = (struct weight_suggestion){
        .weight = weight_at(first_adjustment, (double)(agreed + PRIOR_AGREED) /
                                                  (double)(agreed + disagreed + PRIOR_FIRINGS)),
        .low = low < high ? low : high,
        .high = low < high ? high : low,
    };
    return true;
}
