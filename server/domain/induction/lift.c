/*
 * lift.c: see lift.h.
 */
#include "server/domain/induction/lift.h"

#include <math.h>

/* The standard normal quantile of 0.975. */
#define QUANTILE 1.959963984540054

bool lift_of(const struct lift_group *hits, const struct lift_group *others, struct lift *ret_lift)
{
    double added = others->targets == 0 ? 0.5 : 0;
    double hit_targets = (double)hits->targets + added;
    double hit_cases = (double)hits->cases + 2 * added;
    double other_targets = (double)others->targets + added;
    double other_cases = (double)others->cases + 2 * added;
    double error = 0;

    *ret_lift = (struct lift){.ratio = 0};
    if (hits->cases == 0 || others->cases == 0) {
        return false;
    }
    if (hits->targets == 0) {
        return true;
    }
    error = QUANTILE * sqrt(1 / hit_targets - 1 / hit_cases + 1 / other_targets - 1 / other_cases);
    ret_lift->ratio = (hit_targets / hit_cases) / (other_targets / other_cases);
    ret_lift->low = ret_lift->ratio * exp(-error);
    ret_lift->high = ret_lift->ratio * exp(error);
    return true;
}
