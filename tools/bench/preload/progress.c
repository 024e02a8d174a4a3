/*
 * progress.c: see progress.h. The remaining time is estimated from the speed so far.
 */
#include "tools/bench/preload/progress.h"

#include <inttypes.h>

/* Number of events between two readings of the clock. */
#define LOOK_EVERY 1024
#define SECOND_US 1000000

void progress_init(struct progress *progress, FILE *out, const struct clock *clock, uint64_t total)
{
    progress->out = out;
    progress->clock = clock;
    progress->total = total;
    progress->done = 0;
    progress->started_us = clock_monotonic_us(clock);
    progress->next_us = progress->started_us + PROGRESS_LINE_US;
}

static void print_line(const struct progress *progress, int64_t taken_us)
{
    double rate = (double)progress->done * SECOND_US / (double)taken_us;
    uint64_t left_s = (uint64_t)((double)(progress->total - progress->done) / rate);

    (void)fprintf(progress->out,
                  "preload: %" PRIu64 " of %" PRIu64 " events (%" PRIu64 "%%), %.0f a second, "
                  "%" PRIu64 " min %02" PRIu64 " s left\n",
                  progress->done, progress->total, progress->done * 100 / progress->total, rate,
                  left_s / 60, left_s % 60);
}

void progress_add(struct progress *progress, uint64_t count)
{
    bool look = progress->done / LOOK_EVERY != (progress->done + count) / LOOK_EVERY;
    int64_t now_us = 0;

    progress->done += count;
    if (progress->out == NULL || !look) {
        return;
    }
    now_us = clock_monotonic_us(progress->clock);
    if (now_us >= progress->next_us) {
        print_line(progress, now_us - progress->started_us);
        progress->next_us = now_us + PROGRESS_LINE_US;
    }
}

void progress_say(const struct progress *progress, const char *what)
{
    if (progress->out != NULL) {
        (void)fprintf(progress->out, "preload: %s\n", what);
    }
}
