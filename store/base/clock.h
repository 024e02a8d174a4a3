/*
 * clock.h: the clock through which all code reads the time, so that tests can replace it.
 */
#ifndef ERRATA_STORE_BASE_CLOCK_H
#define ERRATA_STORE_BASE_CLOCK_H

#include <stdint.h>

struct clock {
    /* UTC in microseconds since 1970; may jump. */
    int64_t (*wall_us)(const struct clock *clock);
    /* Microseconds since an arbitrary start; never decreases. For deadlines and durations. */
    int64_t (*monotonic_us)(const struct clock *clock);
    /* The same clock, up to some milliseconds late, at a fifth of the cost. */
    int64_t (*monotonic_coarse_us)(const struct clock *clock);
};

/* Returns the system clock, which is never freed. */
const struct clock *clock_system(void);

/* A clock that only a test moves. */
struct clock_manual {
    struct clock clock; /* must be the first member: pass &manual.clock */
    int64_t wall_us;
    int64_t monotonic_us;
};

void clock_manual_init(struct clock_manual *manual, int64_t wall_us);
void clock_manual_advance(struct clock_manual *manual, int64_t by_us);

static inline int64_t clock_wall_us(const struct clock *clock)
{
    return clock->wall_us(clock);
}

static inline int64_t clock_monotonic_us(const struct clock *clock)
{
    return clock->monotonic_us(clock);
}

static inline int64_t clock_monotonic_coarse_us(const struct clock *clock)
{
    return clock->monotonic_coarse_us(clock);
}

#endif
