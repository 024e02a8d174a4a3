/*
 * idempotency.h: how the writer expires idempotency keys. The functions that find and store them
 * are in work.h.
 */
#ifndef ERRATA_STORE_IDEMPOTENCY_H
#define ERRATA_STORE_IDEMPOTENCY_H

#include "store/backend.h"
#include "store/base/clock.h"
#include "store/base/uuid.h"

/* Hours before the current one in which a key is searched: a day may overlap this many. */
#define IDEMPOTENCY_HOURS_BACK 24
/* Rows are kept twice as long as they are valid: a repeated write must not be stored twice if the
 * program started with a clock that was ahead by less than a day. */
#define IDEMPOTENCY_HOURS_KEPT 48

/* A larger change of the clock at once counts as a jump: it was set, perhaps wrongly. */
#define IDEMPOTENCY_JUMP_US (3600ll * 1000000)
/* Time after a jump during which the time before it counts, too: longer than a key is valid, so
 * that no jump, in either direction, makes a key expire within its 24 hours. */
#define IDEMPOTENCY_DOUBT_US (25 * 3600ll * 1000000)

/* No row is removed in a process's first hour, because an earlier jump of the clock cannot be
 * detected then, and a machine that booted with a wrong clock has usually been corrected by
 * then. */
#define IDEMPOTENCY_START_QUIET_US (3600ll * 1000000)

/* The time by which keys are judged: the wall clock's, except that for IDEMPOTENCY_DOUBT_US after a
 * jump ahead it continues as if there had been none, and that for as long after a jump back rows of
 * future hours count. Zeroed: unknown. Kept only in memory: a restarted program trusts the wall
 * clock, and treats rows of future hours as recent. */
struct idempotency_time {
    bool is_known;
    int64_t now_us;
    bool is_quiet; /* no row is removed */
    bool ahead_counts; /* rows of future hours are kept, since they may be younger than a day */
    int64_t offset_us; /* wall clock minus monotonic clock, at the last update */
    int64_t trusted_offset_us; /* the same without jumps ahead */
    int64_t distrust_until_us; /* end of the period of doubt after a jump, by the monotonic clock */
    int64_t ahead_until_us; /* the same for ahead_counts */
    int64_t quiet_until_us; /* the same for is_quiet */
};

/* Reads the clock: when the writer starts, so that a later jump is noticed, and before each
 * batch. */
void idempotency_time_update(struct idempotency_time *time, const struct clock *clock);

/* The last organisation whose rows were removed; zeroed: none yet. */
struct idempotency_sweep {
    struct uuid org;
};

/* Removes up to `limit` rows that are not valid any more, of one organisation per call: rows that
 * are too old, and rows of future hours that only a clock which was ahead can have written. */
MUST_CHECK enum err idempotency_expire(struct store_txn *txn, const struct idempotency_time *time,
                                       size_t limit, struct idempotency_sweep *sweep,
                                       size_t *ret_count);
/* Judges the keys of this transaction by `time` instead of the wall clock. */
void idempotency_begin(struct store_txn *txn, const struct idempotency_time *time);

#endif
