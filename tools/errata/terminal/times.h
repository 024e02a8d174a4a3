/*
 * times.h: formats points in time relative to now.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_TIMES_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_TIMES_H

#include "store/base/arena.h"

/* Tolerated difference of two machines' clocks: a time that is at most this far in the future is
 * shown as `just now`. */
#define TIMES_SKEW_SECONDS 60

/* Formats a time as `just now`, `12 s ago`, `5 min ago`, `3 h ago`, `20 d ago`; `in 5 min` and the
 * like for future times; beyond a hundred days as a date. At most ten columns. In the arena. */
struct slice times_distance(struct arena *arena, int64_t now_seconds, int64_t then_seconds);
/* Does the same for a past time of another machine's clock. */
struct slice times_ago(struct arena *arena, int64_t now_seconds, int64_t then_seconds);

#endif
