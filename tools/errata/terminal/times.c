/*
 * times.c: see times.h.
 */
#include "tools/errata/terminal/times.h"

#include "store/base/timestamp.h"

#define MINUTE 60
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
/* Maximum days shown as a relative time; for longer times a date is clearer. */
#define DAYS_MAX 100

struct slice times_distance(struct arena *arena, int64_t now_seconds, int64_t then_seconds)
{
    bool ahead = then_seconds > now_seconds;
    long long distance = ahead ? then_seconds - now_seconds : now_seconds - then_seconds;
    const char *before = ahead ? "in " : "";
    const char *after = ahead ? "" : " ago";
    char day[TIMESTAMP_TEXT_BYTES_MAX];

    if (distance == 0) {
        return SLICE("just now");
    }
    if (distance < MINUTE) {
        return arena_printf(arena, "%s%lld s%s", before, distance, after);
    }
    if (distance < HOUR) {
        return arena_printf(arena, "%s%lld min%s", before, distance / MINUTE, after);
    }
    if (distance < DAY) {
        return arena_printf(arena, "%s%lld h%s", before, distance / HOUR, after);
    }
    if (distance < (long long)DAYS_MAX * DAY) {
        return arena_printf(arena, "%s%lld d%s", before, distance / DAY, after);
    }
    (void)timestamp_format(then_seconds, 0, day);
    return arena_printf(arena, "%.10s", day);
}

struct slice times_ago(struct arena *arena, int64_t now_seconds, int64_t then_seconds)
{
    bool skewed = then_seconds > now_seconds && then_seconds <= now_seconds + TIMES_SKEW_SECONDS;

    return times_distance(arena, now_seconds, skewed ? now_seconds : then_seconds);
}
