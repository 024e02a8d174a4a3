/*
 * wire.h: the protobuf wire format (protobuf.dev/programming-guides/encoding) for those who pass
 * stored messages through unparsed: fields appended to a buffer, and a reader that walks the fields
 * of a message without a descriptor. It knows no message; field numbers come from generated headers.
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

/* At most what a field takes beside its bytes, or a number without its tag: a buffer that is to hold
 * `n` fields of `size` bytes is large enough with n * (size + WIRE_OVERHEAD_BYTES). */
#define WIRE_OVERHEAD_BYTES 15

/* Appends. A zero or empty value is written all the same: leaving defaults out is the caller's. */
void wire_put_varint(struct buffer *buffer, uint32_t field, uint64_t value);
void wire_put_bytes(struct buffer *buffer, uint32_t field, struct slice value);
/* The same, but leaving the default out: nothing is written for an empty text, or for 0. */
void wire_put_bytes_given(struct buffer *buffer, uint32_t field, struct slice value);
void wire_put_varint_given(struct buffer *buffer, uint32_t field, uint64_t value);
void wire_put_double(struct buffer *buffer, uint32_t field, double value);
/* A field of any type but BYTES by its raw bits, and an element of a packed field. */
void wire_put_raw(struct buffer *buffer, uint32_t field, enum wire_type type, uint64_t raw);
void wire_put_packed(struct buffer *buffer, enum wire_type type, uint64_t raw);
/* A google.protobuf.Timestamp of microseconds since 1970. */
void wire_put_timestamp(struct buffer *buffer, uint32_t field, int64_t time_us);
/* Tag and length of a bytes field whose `size` bytes the caller appends after it. */
void wire_put_header(struct buffer *buffer, uint32_t field, size_t size);
/* How many bytes wire_put_header writes. */
size_t wire_header_bytes(uint32_t field, size_t size);
size_t wire_varint_bytes(uint64_t value);
/* The size of the message that wire_put_timestamp writes, without tag and length. */
size_t wire_timestamp_bytes(int64_t time_us);

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value; /* of VARINT, FIXED64, FIXED32 */
    struct slice bytes; /* of BYTES: borrowed from the message */
};

struct wire_reader {
    struct slice rest; /* what has not been read */
};

static inline struct wire_reader wire_reader_of(struct slice message)
{
    return (struct wire_reader){message};
}

/* The next field: OK, ERR_NOT_FOUND at the end, ERR_MALFORMED for bytes that are no message
 * (groups, field number 0, overlong varints, lengths past the end). */
MUST_CHECK enum err wire_next(struct wire_reader *reader, struct wire_field *ret_field);
/* The next element of a packed field, taken off the front of `rest`; false if there is none. */
bool wire_take_packed(struct slice *rest, enum wire_type type, uint64_t *ret_value);
/* Microseconds of an encoded google.protobuf.Timestamp. */
MUST_CHECK enum err wire_read_timestamp(struct slice message, int64_t *ret_time_us);

#endif
