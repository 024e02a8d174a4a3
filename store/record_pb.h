/*
 * record_pb.h: two functions that wrap nanopb, for the records.c of a row's owner. Bytes and texts
 * of a message are `struct slice`: after decoding they point into the input; empty ones are not
 * encoded.
 */
#ifndef ERRATA_STORE_RECORD_PB_H
#define ERRATA_STORE_RECORD_PB_H

#include "store/base/arena.h"
#include "store/base/err.h"

#include <pb.h>

/* `ret_message` must be zeroed (by memset: the generated initialisers do not fit slices). */
MUST_CHECK enum err record_pb_decode(struct slice bytes, const pb_msgdesc_t *type,
                                     void *ret_message);
MUST_CHECK enum err record_pb_encode(struct arena *arena, const pb_msgdesc_t *type,
                                     const void *message, struct slice *ret_bytes);

/* State of checking a record: one line per rule, the result is read once. */
struct record_check {
    struct slice whole; /* the encoded record */
    bool failed;
};

/* Returns a decoded slice. One outside of the input fails the check (a field of another wire type
 * leaves a pointer into nanopb's stack). */
struct slice record_take(struct record_check *check, struct slice part);
/* Does the same for a slice that must have exactly `size` bytes or none. */
struct slice record_take_sized(struct record_check *check, struct slice part, size_t size);
void record_need(struct record_check *check, bool fact);
bool record_is_zero(const uint8_t *bytes, size_t size);

static inline enum err record_check_result(const struct record_check *check)
{
    return check->failed ? ERR_CORRUPT : OK;
}

#endif
