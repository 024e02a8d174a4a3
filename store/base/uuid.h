/*
 * uuid.h: UUIDv7 (RFC 9562, 5.7): 48 bits of milliseconds, then version, variant and random bits.
 * The 12 bits after the version are microseconds / 1000 * 4096, so ids of one millisecond are
 * ordered as far as the clock's resolution allows.
 */
#ifndef ERRATA_STORE_BASE_UUID_H
#define ERRATA_STORE_BASE_UUID_H

#include "store/base/random.h"
#include "store/base/slice.h"

#define UUID_BYTES 16
#define UUID_TIME_BYTES 8
#define UUID_TEXT_BYTES 36

struct uuid {
    uint8_t bytes[UUID_BYTES];
};

/* A new id for the time `wall_us`. */
struct uuid uuid_v7(int64_t wall_us, struct random *random);
/* Sets the first UUID_TIME_BYTES, which depend only on the time. */
void uuid_v7_put_time(struct uuid *uuid, int64_t wall_us);
/* Returns an id above `previous` (an id of uuid_v7) for the same time or an earlier one: RFC 9562,
 * 6.2, method 2. The random bits are increased by 1 to 65,536; only their overflow changes the
 * time, by a quarter of a microsecond, at most once in 2^46 ids: so ids that uuid_v7 makes for a
 * later microsecond are above all of these. */
struct uuid uuid_v7_next(struct uuid previous, struct random *random);
/* Canonical lower-case text, exactly UUID_TEXT_BYTES, without NUL. */
void uuid_format(struct uuid uuid, char text[UUID_TEXT_BYTES]);
/* Reads canonical text in either case; false for anything else. */
bool uuid_parse(struct slice text, struct uuid *ret_uuid);

static inline bool uuid_equal(struct uuid a, struct uuid b)
{
    return memcmp(a.bytes, b.bytes, UUID_BYTES) == 0;
}

#endif
