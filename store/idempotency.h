/*
 * idempotency.h: what the writer does about idempotency keys that are too old to be asked for.
 * Finding and keeping them is in work.h.
 */
#ifndef ERRATA_STORE_IDEMPOTENCY_H
#define ERRATA_STORE_IDEMPOTENCY_H

#include "store/backend.h"
#include "store/base/clock.h"
#include "store/base/uuid.h"

/* A key is looked for in this hour and in the hours before it that a day may reach into. */
#define IDEMPOTENCY_HOURS_BACK 24
/* Rows stay twice as long as they are asked for: a clock that a program started on, and that was ahead by
 * less than a day, must not make a repeated write be stored twice. */
#define IDEMPOTENCY_HOURS_KEPT 48

/* A clock that moves by more than this at once was put there, perhaps wrongly. */
#define IDEMPOTENCY_JUMP_US (3600ll * 1000000)
/* For so long after a jump the time before it counts too: longer than a key holds, so that no jump, and no
 * jump back, ends a key within its 24 hours. */
#define IDEMPOTENCY_DOUBT_US (25 * 3600ll * 1000000)

/* In the first hour of a program no row goes: it can't know whether the clock jumped before, and a machine
 * that started with a wrong one mostly hears the time by then. */
#define IDEMPOTENCY_START_QUIET_US (3600ll * 1000000)

/* The time that keys are judged by. The wall clock's; but for IDEMPOTENCY_DOUBT_US after a jump ahead it goes
 * on as if there had been none, and for as long after a jump back rows of hours to come count. Zeroed:
 * nothing is known yet. In memory alone: a program that was started again trusts the wall clock, and takes
 * rows of hours to come for young. */
struct idempotency_time {
    bool is_known;
    int64_t now_us;
    bool is_quiet; /* no row goes */
    bool ahead_counts; /* rows of hours to come may be younger than a day */
    int64_t offset_us; /* of the wall clock to the monotonic one, at the last update */
    int64_t trusted_offset_us; /* the same without jumps ahead */
    int64_t distrust_until_us; /* of the monotonic clock: the two differ until then */
    int64_t ahead_until_us; /* the same, of ahead_counts */
    int64_t quiet_until_us; /* the same, of is_quiet */
};

/* Reads the clock: when the writer starts, so that a jump after that is seen, and before each batch. */
void idempotency_time_update(struct idempotency_time *time, const struct clock *clock);

/* The organisation whose old rows went last; zeroed: none yet. */
struct idempotency_sweep {
    struct uuid org;
};

/* Removes up to `limit` rows that no write asks for any more, of one organisation after the other, one a
 * call: those that are too old, and those of hours to come that only a clock which was ahead can have left. */
MUST_CHECK enum err idempotency_expire(struct store_txn *txn, const struct idempotency_time *time,
                                       size_t limit, struct idempotency_sweep *sweep,
                                       size_t *ret_count);
/* Judges the keys of this transaction by `time` rather than by the wall clock alone. */
void idempotency_begin(struct store_txn *txn, const struct idempotency_time *time);

#endif
