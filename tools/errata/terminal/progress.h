/*
 * progress.h: progress of long work: one line on a terminal that is overwritten, with a bar, a
 * count, a rate and the remaining time. Shows nothing if the stream is not a terminal, or if the
 * work ends quickly. Printers that know it remove the line before they print.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_PROGRESS_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_PROGRESS_H

#include "store/base/clock.h"
#include "tools/errata/terminal/print.h"

/* Work that ends before this shows no line. */
#define PROGRESS_FIRST_US 400000
/* Interval between two lines. */
#define PROGRESS_STEP_US 100000

/* State of a progress display. */
struct progress_state {
    const char *unit; /* counted unit, such as "files" */
    uint64_t done;
    uint64_t total; /* 0 if unknown */
    uint64_t done_steps; /* completed steps of a finer unit, for the bar and the remaining time */
    uint64_t total_steps; /* 0: use the count instead */
    struct slice detail; /* current item, such as a file name; or empty */
    bool paused; /* paused: the line is printed immediately, and its rate is meaningless */
};

struct progress {
    struct printer *printer; /* borrowed */
    const struct clock *clock;
    int64_t start_us;
    int64_t shown_us;
    bool visible;
};

void progress_start(struct progress *progress, struct printer *printer, const struct clock *clock);
/* Draws the line if it is due. */
void progress_show(struct progress *progress, const struct progress_state *state);
/* Removes the line; the next progress_show draws it again. */
void progress_hide(struct progress *progress);

/* Returns the line's text after this time, in at most printer->width - 1 columns, in the arena. */
struct slice progress_line(const struct printer *printer, struct arena *arena,
                           const struct progress_state *state, int64_t elapsed_us);
/* Formats a duration, such as `0.8 s`, `12 s`, `3 min 20 s`, `1 h 5 min`; in the arena. */
struct slice progress_span(struct arena *arena, int64_t span_us);

#endif
