/*
 * sweep.h: which rates a sweep tries, and what it concludes. No run is made here.
 *
 * The rule: a rate is sustained where at least SWEEP_ACHIEVED of the calls that were due were
 * answered, p99 stays within a limit, and the run was valid. The limit is given, or SWEEP_P99_FACTOR
 * times the p99 of the lowest rate. Rates rise until one is not sustained in SWEEP_ATTEMPTS runs, so
 * that one hiccup of the machine decides nothing. Between the last rate that was sustained
 * and the first that was not, the sweep continues halving (by the geometric mean) until they are within
 * SWEEP_NEAR of each other. The knee is the highest rate that was sustained.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_SWEEP_H
#define ERRATA_TOOLS_BENCH_LOAD_SWEEP_H

#include "tools/bench/load/parse.h"

#include <stddef.h>

#define SWEEP_ACHIEVED 0.99
#define SWEEP_P99_FACTOR 10
#define SWEEP_NEAR 1.05
#define SWEEP_ATTEMPTS 3
/* Maximum rates on the way up, some of them tried again, and the halvings. */
#define SWEEP_RUNS_MAX 256

/* The result of a run at one rate. */
struct sweep_point {
    double offered; /* offered load in calls per second */
    double achieved;
    uint64_t p99_ns;
    bool valid;
    bool sustained; /* the rate is sustained according to the rule */
};

struct sweep {
    struct sweep_range range;
    uint64_t p99_limit_ns; /* 0: unknown before the first valid run */
    double good; /* the highest rate that was sustained; 0: none yet */
    double bad; /* the lowest one that was not; 0: none yet */
    double rate; /* the rate that is being tried */
    unsigned attempts; /* number of runs at this rate so far */
    struct sweep_point points[SWEEP_RUNS_MAX];
    size_t point_count;
};

void sweep_init(struct sweep *sweep, const struct sweep_range *range, uint64_t p99_limit_ns);
/* Returns the next rate to try; false at the end of the sweep. */
bool sweep_next(struct sweep *sweep, double *ret_rate);
/* Records the run at that rate; sets `sustained`. */
void sweep_note(struct sweep *sweep, const struct sweep_point *point);
/* Returns the index of the point at the knee; false if no rate was sustained. */
bool sweep_knee(const struct sweep *sweep, size_t *ret_index);

#endif
