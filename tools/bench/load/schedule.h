/*
 * schedule.h: when the calls of an open loop are due. FIXED: every 1/rate seconds, counted from the
 * start, so that no rounding adds up. POISSON: at random, like calls of many independent callers,
 * with the same mean. The schedule does not depend on answers.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_SCHEDULE_H
#define ERRATA_TOOLS_BENCH_LOAD_SCHEDULE_H

#include "tools/bench/load/draw.h"

#include <stdbool.h>

struct schedule {
    double interval_ns;
    bool poisson;
    struct draw draw; /* separate random source, so that start times do not depend on other draws */
    uint64_t start_ns;
    uint64_t count; /* number of calls taken */
    double next_ns; /* time of the next call since the start */
};

void schedule_init(struct schedule *schedule, double rate, bool poisson, uint64_t seed,
                   uint64_t start_ns);
/* Returns the time of the next call. */
uint64_t schedule_next_ns(const struct schedule *schedule);
/* Advances to the next call. */
void schedule_take(struct schedule *schedule);

#endif
