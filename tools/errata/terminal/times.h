/*
 * times.h: points in time as people read them at a glance: how long ago, or how soon.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_TIMES_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_TIMES_H

#include "store/base/arena.h"

/* Clocks of two machines differ: what has happened so little ahead of ours has just happened. */
#define TIMES_SKEW_SECONDS 60

/* `just now`, `12 s ago`, `5 min ago`, `3 h ago`, `20 d ago`; `in 5 min` and the like for what is to
 * come; beyond a hundred days the day itself. At most ten columns. In the arena. */
struct slice times_distance(struct arena *arena, int64_t now_seconds, int64_t then_seconds);
/* The same of something that has happened by another machine's clock. */
struct slice times_ago(struct arena *arena, int64_t now_seconds, int64_t then_seconds);

#endif
