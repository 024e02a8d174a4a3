/*
 * schedule.h: when the calls of an open loop are due. FIXED: every 1/rate seconds, counted from the
 * start, so that no rounding adds up. POISSON: at random, as calls of many independent callers come,
 * with the same mean. What is due does not depend on what was answered.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_SCHEDULE_H
#define ERRATA_TOOLS_BENCH_LOAD_SCHEDULE_H

#include "tools/bench/load/draw.h"

#include <stdbool.h>

struct schedule {
    double interval_ns;
    bool poisson;
    struct draw draw; /* its own, so that times depend on nothing else that is drawn */
    uint64_t start_ns;
    uint64_t count; /* calls taken */
    double next_ns; /* when the next one is due, from the start */
};

void schedule_init(struct schedule *schedule, double rate, bool poisson, uint64_t seed,
                   uint64_t start_ns);
/* When the next call is due. */
uint64_t schedule_next_ns(const struct schedule *schedule);
/* Advances to the next one. */
void schedule_take(struct schedule *schedule);

#endif
