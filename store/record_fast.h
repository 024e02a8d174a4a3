/*
 * record_fast.h: a reader for messages whose fields are in the order in which our encoder writes
 * them: it checks whether a certain field is next, instead of looking up the next field. Only for
 * the records of a lookup: the head of an organisation and of a layout, an example, the example of a document. It never fails: if the end of the message is not reached, the
 * caller reads it again with the general reader.
 */
#ifndef ERRATA_STORE_RECORD_FAST_H
#define ERRATA_STORE_RECORD_FAST_H

#include "store/base/slice.h"
#include "store/base/wire.h"

/* First byte of a field: number and wire type. */
#define RECORD_NUMBER_TAG(field) ((uint8_t)((field) << 3 | WIRE_VARINT))
#define RECORD_FIXED_TAG(field) ((uint8_t)((field) << 3 | WIRE_FIXED64))
#define RECORD_BYTES_TAG(field) ((uint8_t)((field) << 3 | WIRE_BYTES))

struct record_fast {
    const uint8_t *at;
    const uint8_t *end;
};

static inline struct record_fast record_fast_of(struct slice bytes)
{
    return (struct record_fast){bytes.data, bytes.data + bytes.size};
}

/* Joins the lower seven bits of each of eight bytes. */
static inline uint64_t record_fast_join(uint64_t word)
{
    word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Reads a varint of at most 7 bytes, near the message's end. */
static inline bool record_fast_last_varint(struct record_fast *reader, uint64_t *ret_value)
{
    uint64_t value = 0;
    unsigned bits = 0;

    for (const uint8_t *at = reader->at; at < reader->end; at++) {
        value |= (uint64_t)(*at & 0x7f) << bits;
        bits += 7;
        if (*at < 0x80) {
            *ret_value = value;
            reader->at = at + 1;
            return true;
        }
    }
    return false;
}

/* Reads a varint of at most 8 bytes (56 bits); a longer one is left to the general reader. */
static inline bool record_fast_varint(struct record_fast *reader, uint64_t *ret_value)
{
    const uint8_t *at = reader->at;
    uint64_t word = 0;
    uint64_t ends = 0; /* the upper bit of each byte that ends a varint */

    if (reader->end - at < (ptrdiff_t)sizeof(word)) {
        return record_fast_last_varint(reader, ret_value);
    }
    if (at[0] < 0x80) {
        *ret_value = at[0];
        reader->at = at + 1;
        return true;
    }
    if (at[1] < 0x80) {
        *ret_value = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        reader->at = at + 2;
        return true;
    }
    memcpy(&word, at, sizeof(word));
    ends = ~word & UINT64_C(0x8080808080808080);
    if (ends == 0) {
        return false;
    }
    *ret_value = record_fast_join(word & (ends ^ (ends - 1)));
    reader->at = at + (unsigned)__builtin_ctzll(ends) / 8 + 1;
    return true;
}

/* Reads the field if its tag byte is next; otherwise the value is unchanged. */
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
