/*
 * record_pb.h: nanopb as two functions, for the records.c of whoever owns a row. Bytes and texts of a message are
 * `struct slice`: decoding makes them point into the input, encoding leaves empty ones out.
 */
#ifndef ERRATA_STORE_RECORD_PB_H
#define ERRATA_STORE_RECORD_PB_H

#include "store/base/arena.h"
#include "store/base/err.h"

#include <pb.h>

/* `ret_message` was zeroed (by memset: the generated initialisers do not fit slices). */
MUST_CHECK enum err record_pb_decode(struct slice bytes, const pb_msgdesc_t *type,
                                     void *ret_message);
MUST_CHECK enum err record_pb_encode(struct arena *arena, const pb_msgdesc_t *type,
                                     const void *message, struct slice *ret_bytes);

/* A check that goes on: what a record must have, one line each, the result asked for once. */
struct record_check {
    struct slice whole; /* the encoded record */
    bool failed;
};

/* A slice that was decoded. One that does not lie in the input (a field of another wire type leaves a
 * pointer into nanopb's own stack) fails the check. */
struct slice record_take(struct record_check *check, struct slice part);
/* The same for one that has exactly `size` bytes or none. */
struct slice record_take_sized(struct record_check *check, struct slice part, size_t size);
void record_need(struct record_check *check, bool fact);
bool record_is_zero(const uint8_t *bytes, size_t size);

static inline enum err record_check_result(const struct record_check *check)
{
    return check->failed ? ERR_CORRUPT : OK;
}

#endif
