/*
 * pace.c: see pace.h.
 */
#include "store/base/pace.h"

#include <time.h>

struct pace pace_start(const struct clock *clock, uint64_t bytes_a_second)
{
    return (struct pace){
        .clock = clock, .bytes_a_second = bytes_a_second, .start_us = clock_monotonic_us(clock)};
}

void pace_wait(struct pace *pace, uint64_t bytes)
{
    uint64_t rate = pace->bytes_a_second;
    int64_t due_us = 0;

    pace->bytes += bytes;
    if (rate == 0) {
        return;
    }
    due_us = pace->start_us +
             (int64_t)(pace->bytes / rate * 1000000 + pace->bytes % rate * 1000000 / rate);
    due_us -= clock_monotonic_us(pace->clock);
    if (due_us > 0) {
        struct timespec pause = {0,
                                 (due_us < PACE_PAUSE_US_MAX ? due_us : PACE_PAUSE_US_MAX) * 1000};

        (void)nanosleep(&pause, NULL);
    }
}
