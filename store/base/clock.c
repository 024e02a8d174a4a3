/*
 * clock.c: the system clock, and the manual one of tests. No other code asks the kernel for the
 * time.
 */
#include "store/base/clock.h"

#include "store/base/assert.h"

#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec now = {0};

    ASSERT(clock_gettime(id, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t system_wall_us(const struct clock *clock)
{
    (void)clock;
    return read_us(CLOCK_REALTIME);
}

static int64_t system_monotonic_us(const struct clock *clock)
{
    (void)clock;
    return read_us(CLOCK_MONOTONIC);
}

static int64_t system_monotonic_coarse_us(const struct clock *clock)
{
    (void)clock;
    return read_us(CLOCK_MONOTONIC_COARSE);
}

const struct clock *clock_system(void)
{
    static const struct clock machine = {system_wall_us, system_monotonic_us,
                                         system_monotonic_coarse_us};

    return &machine;
}

static int64_t manual_wall_us(const struct clock *clock)
{
    return ((const struct clock_manual *)clock)->wall_us;
}

static int64_t manual_monotonic_us(const struct clock *clock)
{
    return ((const struct clock_manual *)clock)->monotonic_us;
}

void clock_manual_init(struct clock_manual *manual, int64_t wall_us)
{
    *manual = (struct clock_manual){
        .clock = {manual_wall_us, manual_monotonic_us, manual_monotonic_us},
        .wall_us = wall_us,
    };
}

void clock_manual_advance(struct clock_manual *manual, int64_t by_us)
{
    ASSERT(by_us >= 0);
    manual->wall_us += by_us;
    manual->monotonic_us += by_us;
}
