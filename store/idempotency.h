/*
 * idempotency.h: what the writer does about idempotency keys that are too old to be asked for.
 * Finding and keeping them is in work.h.
 */
#ifndef ERRATA_STORE_IDEMPOTENCY_H
#define ERRATA_STORE_IDEMPOTENCY_H

#include "store/backend.h"
#include "store/base/clock.h"
#include "store/base/uuid.h"

/* A key is looked for in this hour, in the hours before it that a day may reach into, and in all later
 * ones, should the clock have been put back. */
#define IDEMPOTENCY_HOURS_BACK 24
/* Rows stay twice as long as they are asked for: a clock that jumps ahead by less than a day must not
 * make a repeated write be stored twice. */
#define IDEMPOTENCY_HOURS_KEPT 48

/* A clock that goes ahead by more than this at once was put there, and perhaps wrongly. */
#define IDEMPOTENCY_JUMP_US (3600ll * 1000000)
/* Then no row goes for so long: put back meanwhile, the clock has cost no key its window. */
#define IDEMPOTENCY_JUMP_QUIET_US (25 * 3600ll * 1000000)

/* Nor in the first hour of a program: it can't tell whether the clock jumped before, and a machine that
 * started with a wrong one mostly hears the time by then. */
#define IDEMPOTENCY_START_QUIET_US (3600ll * 1000000)

/* Whose old rows went last, and what the clock did; zeroed: nobody's, nothing yet. In memory alone:
 * losing it costs a round, and that hour. */
struct idempotency_sweep {
    struct uuid org;
    bool has_offset;
    int64_t offset_us; /* of the wall clock to the monotonic one, at the last call */
    int64_t quiet_until_us; /* of the monotonic clock */
};

/* Removes up to `limit` rows that are too old, of one organisation after the other, one a call. */
MUST_CHECK enum err idempotency_expire(struct store_txn *txn, const struct clock *clock,
                                       size_t limit, struct idempotency_sweep *sweep,
                                       size_t *ret_count);

#endif
