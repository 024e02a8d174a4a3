/*
 * progress.h: prints the progress of a long load and its remaining time.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_PROGRESS_H
#define ERRATA_TOOLS_BENCH_PRELOAD_PROGRESS_H

#include "store/base/clock.h"

#include <stdbool.h>
#include <stdio.h>

/* Time between two lines. */
#define PROGRESS_LINE_US 5000000

struct progress {
    FILE *out; /* NULL: reports nothing */
    const struct clock *clock;
    uint64_t total;
    uint64_t done;
    int64_t started_us;
    int64_t next_us; /* time of the next line */
};

void progress_init(struct progress *progress, FILE *out, const struct clock *clock, uint64_t total);
/* Counts further events, and prints a line if one is due. */
void progress_add(struct progress *progress, uint64_t count);
/* Prints a separate line, such as one about a wait for the disk. */
void progress_say(const struct progress *progress, const char *what);

#endif
