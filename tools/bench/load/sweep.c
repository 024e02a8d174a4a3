/*
 * sweep.c: see sweep.h.
 */
#include "tools/bench/load/sweep.h"

#include <math.h>

void sweep_init(struct sweep *sweep, const struct sweep_range *range, uint64_t p99_limit_ns)
{
    *sweep = (struct sweep){.range = *range, .p99_limit_ns = p99_limit_ns, .rate = range->from};
}

static double step_up(const struct sweep_range *range, double rate)
{
    double next = range->step == SWEEP_TIMES ? rate * range->by : rate + range->by;

    return next < range->to ? next : range->to;
}

/* Returns the rate after the one that is decided; 0 if there is none. */
static double choose(const struct sweep *sweep)
{
    if (sweep->bad <= 0) {
        return sweep->good < sweep->range.to ? step_up(&sweep->range, sweep->good) : 0;
    }
    if (sweep->good <= 0 || sweep->bad / sweep->good <= SWEEP_NEAR) {
        return 0;
    }
    return round(sqrt(sweep->good * sweep->bad));
}

bool sweep_next(struct sweep *sweep, double *ret_rate)
{
    if (sweep->rate <= 0 || sweep->point_count == SWEEP_RUNS_MAX) {
        return false;
    }
    *ret_rate = sweep->rate;
    return true;
}

void sweep_note(struct sweep *sweep, const struct sweep_point *point)
{
    struct sweep_point *noted = &sweep->points[sweep->point_count++];

    *noted = *point;
    if (sweep->p99_limit_ns == 0 && point->valid) {
        sweep->p99_limit_ns = SWEEP_P99_FACTOR * point->p99_ns;
    }
    noted->sustained = point->valid && point->achieved >= SWEEP_ACHIEVED * point->offered &&
                       point->p99_ns <= sweep->p99_limit_ns;
    sweep->attempts++;
    if (noted->sustained) {
        sweep->good = sweep->rate;
    } else if (sweep->attempts == SWEEP_ATTEMPTS) {
        sweep->bad = sweep->rate;
    } else {
        return;
    }
    sweep->attempts = 0;
    sweep->rate = choose(sweep);
}

bool sweep_knee(const struct sweep *sweep, size_t *ret_index)
{
    bool found = false;

    for (size_t i = 0; i < sweep->point_count; i++) {
        if (sweep->points[i].sustained &&
            (!found || sweep->points[i].offered > sweep->points[*ret_index].offered)) {
            *ret_index = i;
            found = true;
        }
    }
    return found;
}
