/*
 * schedule.c: see schedule.h.
 */
#include "tools/bench/load/schedule.h"

#include <math.h>

void schedule_init(struct schedule *schedule, double rate, bool poisson, uint64_t seed,
                   uint64_t start_ns)
{
    *schedule = (struct schedule){
        .interval_ns = 1e9 / rate, .poisson = poisson, .draw = {seed}, .start_ns = start_ns};
}

uint64_t schedule_next_ns(const struct schedule *schedule)
{
    return schedule->start_ns + (uint64_t)schedule->next_ns;
}

void schedule_take(struct schedule *schedule)
{
    schedule->count++;
    if (schedule->poisson) {
        schedule->next_ns -= log(draw_share(&schedule->draw)) * schedule->interval_ns;
    } else {
        schedule->next_ns = (double)schedule->count * schedule->interval_ns;
    }
}
