/*
 * wire.h: the protobuf wire format (protobuf.dev/programming-guides/encoding) for code that passes
 * stored messages through unparsed: appends fields to a buffer, and walks the fields of a message
 * without a descriptor. Field numbers come from generated headers.
 */
#ifndef ERRATA_STORE_BASE_WIRE_H
#define ERRATA_STORE_BASE_WIRE_H

#include "store/base/buffer.h"
#include "store/base/err.h"

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5
};

/* Maximum bytes that a field needs besides its content, or a number without its tag: a buffer for
 * `n` fields of `size` bytes is large enough with n * (size + WIRE_OVERHEAD_BYTES). */
#define WIRE_OVERHEAD_BYTES 15
/* A field of a Timestamp with a tag of one byte. */
#define WIRE_TIMESTAMP_BYTES_MAX 24

/* Append a field. Zero or empty values are written, too: omitting defaults is up to the caller. */
void wire_put_varint(struct buffer *buffer, uint32_t field, uint64_t value);
void wire_put_bytes(struct buffer *buffer, uint32_t field, struct slice value);
/* Append a field, but omit the default: an empty text, or 0. */
void wire_put_bytes_given(struct buffer *buffer, uint32_t field, struct slice value);
void wire_put_varint_given(struct buffer *buffer, uint32_t field, uint64_t value);
void wire_put_double(struct buffer *buffer, uint32_t field, double value);
/* Append a field of any type but BYTES by its raw bits, and an element of a packed field. */
void wire_put_raw(struct buffer *buffer, uint32_t field, enum wire_type type, uint64_t raw);
void wire_put_packed(struct buffer *buffer, enum wire_type type, uint64_t raw);
/* Appends a google.protobuf.Timestamp of microseconds since 1970. */
void wire_put_timestamp(struct buffer *buffer, uint32_t field, int64_t time_us);
/* Writes the same field, of a number up to 15, to `out`; returns its size. */
size_t wire_write_timestamp(uint8_t out[static WIRE_TIMESTAMP_BYTES_MAX], uint32_t field,
                            int64_t time_us);
/* Appends tag and length of a bytes field; the caller appends its `size` bytes. */
void wire_put_header(struct buffer *buffer, uint32_t field, size_t size);
/* Returns how many bytes wire_put_header writes. */
size_t wire_header_bytes(uint32_t field, size_t size);
size_t wire_varint_bytes(uint64_t value);
/* Returns the size of the message that wire_put_timestamp writes, without tag and length. */
size_t wire_timestamp_bytes(int64_t time_us);

/* Maximum bytes of a varint. */
#define WIRE_VARINT_BYTES_MAX 10

/* Writes a varint to `at`, which has room for WIRE_VARINT_BYTES_MAX; returns its size. */
static inline size_t wire_write_varint(uint8_t *at, uint64_t value)
{
    size_t size = 0;

    while (value >= 0x80) {
        at[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    at[size++] = (uint8_t)value;
    return size;
}

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value; /* value of a VARINT, FIXED64 or FIXED32 field */
    struct slice bytes; /* value of a BYTES field, borrowed from the message */
};

struct wire_reader {
    struct slice rest; /* the unread part */
};

static inline struct wire_reader wire_reader_of(struct slice message)
{
    return (struct wire_reader){message};
}

/* Reads the next field: OK, ERR_NOT_FOUND at the end, ERR_MALFORMED for bytes that are not a
 * message (groups, field number 0, overlong varints, lengths past the end). */
MUST_CHECK enum err wire_next(struct wire_reader *reader, struct wire_field *ret_field);
/* Takes the next element of a packed field off the front of `rest`; false if there is none. */
bool wire_take_packed(struct slice *rest, enum wire_type type, uint64_t *ret_value);
/* Reads the microseconds of an encoded google.protobuf.Timestamp. */
MUST_CHECK enum err wire_read_timestamp(struct slice message, int64_t *ret_time_us);

#endif
