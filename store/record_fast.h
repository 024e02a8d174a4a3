/*
 * record_fast.h: a reader for messages whose fields stand in the order in which our encoder writes
 * them: it asks "is this field next?" where a general reader asks which field is next. For the two
 * records of a lookup, in record_example.c alone. It never fails: whoever has not come to the end of
 * the message reads it again by the general way.
 */
#ifndef ERRATA_STORE_RECORD_FAST_H
#define ERRATA_STORE_RECORD_FAST_H

#include "store/base/slice.h"

struct record_fast {
    const uint8_t *at;
    const uint8_t *end;
};

static inline struct record_fast record_fast_of(struct slice bytes)
{
    return (struct record_fast){bytes.data, bytes.data + bytes.size};
}

/* A varint of at most 9 bytes (63 bits); a longer one is left to the general way. */
static inline bool record_fast_varint(struct record_fast *reader, uint64_t *ret_value)
{
    const uint8_t *at = reader->at;
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 63 && at < reader->end; shift += 7) {
        uint8_t byte = *at++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            reader->at = at;
            *ret_value = value;
            return true;
        }
    }
    return false;
}

/* Takes the field if its tag byte is next; the value is untouched where it is not. */
static inline void record_fast_number(struct record_fast *reader, uint8_t tag, uint64_t *ret_value)
{
    struct record_fast after = *reader;

    if (after.at < after.end && *after.at++ == tag && record_fast_varint(&after, ret_value)) {
        *reader = after;
    }
}

static inline void record_fast_fixed(struct record_fast *reader, uint8_t tag, uint64_t *ret_value)
{
    if (reader->end - reader->at > (ptrdiff_t)sizeof(*ret_value) && *reader->at == tag) {
        memcpy(ret_value, reader->at + 1, sizeof(*ret_value));
        reader->at += 1 + sizeof(*ret_value);
    }
}

static inline void record_fast_bytes(struct record_fast *reader, uint8_t tag,
                                     struct slice *ret_value)
{
    struct record_fast after = *reader;
    uint64_t size = 0;

    if (after.at < after.end && *after.at++ == tag && record_fast_varint(&after, &size) &&
        size <= (uint64_t)(after.end - after.at)) {
        *ret_value = slice_of(after.at, (size_t)size);
        reader->at = after.at + size;
    }
}

#endif
