/*
 * pace.h: limits the rate of a copy, on a thread that may sleep.
 */
#ifndef ERRATA_STORE_BASE_PACE_H
#define ERRATA_STORE_BASE_PACE_H

#include "store/base/clock.h"

/* The longest pause, and so the delay of stopping the copy. */
#define PACE_PAUSE_US_MAX 50000

struct pace {
    const struct clock *clock;
    uint64_t bytes_a_second; /* 0: unlimited */
    int64_t start_us;
    uint64_t bytes; /* copied since the start */
};

struct pace pace_start(const struct clock *clock, uint64_t bytes_a_second);
/* Counts bytes that were copied, and waits until the limit allows more, or for the longest pause. */
void pace_wait(struct pace *pace, uint64_t bytes);

#endif
