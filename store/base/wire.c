/*
 * wire.c: varints, tags and lengths. The reader accepts non-minimal varints of other writers (up to
 * ten bytes), but none that overflow 64 bits.
 */
#include "store/base/wire.h"

#include "store/base/assert.h"

#define TAG_BYTES_MAX 5
#define FIELD_NUMBER_MAX 0x1fffffffu

#define TIMESTAMP_SECONDS 1
#define TIMESTAMP_NANOS 2

size_t wire_varint_bytes(uint64_t value)
{
    unsigned bits = 64u - (unsigned)__builtin_clzll(value | 1);

    return (bits + 6) / 7;
}

static size_t put_tag(uint8_t *at, uint32_t field, enum wire_type type)
{
    ASSERT(field >= 1 && field <= FIELD_NUMBER_MAX);
    return wire_write_varint(at, (uint64_t)field << 3 | (uint64_t)type);
}

void wire_put_varint(struct buffer *buffer, uint32_t field, uint64_t value)
{
    if (buffer_reserve(buffer, TAG_BYTES_MAX + WIRE_VARINT_BYTES_MAX)) {
        buffer->size += put_tag(buffer->data + buffer->size, field, WIRE_VARINT);
        buffer->size += wire_write_varint(buffer->data + buffer->size, value);
    }
}

void wire_put_header(struct buffer *buffer, uint32_t field, size_t size)
{
    if (buffer_reserve(buffer, TAG_BYTES_MAX + WIRE_VARINT_BYTES_MAX)) {
        buffer->size += put_tag(buffer->data + buffer->size, field, WIRE_BYTES);
        buffer->size += wire_write_varint(buffer->data + buffer->size, size);
    }
}

size_t wire_header_bytes(uint32_t field, size_t size)
{
    return wire_varint_bytes((uint64_t)field << 3) + wire_varint_bytes(size);
}

void wire_put_bytes(struct buffer *buffer, uint32_t field, struct slice value)
{
    wire_put_header(buffer, field, value.size);
    buffer_append(buffer, value);
}

void wire_put_packed(struct buffer *buffer, enum wire_type type, uint64_t raw)
{
    size_t size = type == WIRE_FIXED64 ? 8 : 4;

    ASSERT(type != WIRE_BYTES);
    if (!buffer_reserve(buffer, WIRE_VARINT_BYTES_MAX)) {
        return;
    }
    if (type == WIRE_VARINT) {
        buffer->size += wire_write_varint(buffer->data + buffer->size, raw);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        buffer->data[buffer->size++] = (uint8_t)(raw >> (8 * i));
    }
}

void wire_put_raw(struct buffer *buffer, uint32_t field, enum wire_type type, uint64_t raw)
{
    if (buffer_reserve(buffer, TAG_BYTES_MAX + WIRE_VARINT_BYTES_MAX)) {
        buffer->size += put_tag(buffer->data + buffer->size, field, type);
        wire_put_packed(buffer, type, raw);
    }
}

void wire_put_bytes_given(struct buffer *buffer, uint32_t field, struct slice value)
{
    if (value.size > 0) {
        wire_put_bytes(buffer, field, value);
    }
}

void wire_put_varint_given(struct buffer *buffer, uint32_t field, uint64_t value)
{
    if (value != 0) {
        wire_put_varint(buffer, field, value);
    }
}

void wire_put_double(struct buffer *buffer, uint32_t field, double value)
{
    uint64_t bits = 0;

    memcpy(&bits, &value, sizeof(bits));
    wire_put_raw(buffer, field, WIRE_FIXED64, bits);
}

/* Whole seconds, rounded down, and the microseconds from there. */
static int64_t split_time(int64_t time_us, int64_t *ret_us)
{
    int64_t seconds = time_us / 1000000;
    int64_t us = time_us % 1000000;

    if (us < 0) {
        us += 1000000;
        seconds--;
    }
    *ret_us = us;
    return seconds;
}

size_t wire_timestamp_bytes(int64_t time_us)
{
    int64_t us = 0;
    int64_t seconds = split_time(time_us, &us);

    return (seconds != 0 ? 1 + wire_varint_bytes((uint64_t)seconds) : 0) +
           (us != 0 ? 1 + wire_varint_bytes((uint64_t)us * 1000) : 0);
}

/* Writes the message, without tag and length. */
static size_t write_time(uint8_t *out, int64_t time_us)
{
    size_t size = 0;
    int64_t us = 0;
    int64_t seconds = split_time(time_us, &us);

    if (seconds != 0) {
        size += put_tag(out + size, TIMESTAMP_SECONDS, WIRE_VARINT);
        size += wire_write_varint(out + size, (uint64_t)seconds);
    }
    if (us != 0) {
        size += put_tag(out + size, TIMESTAMP_NANOS, WIRE_VARINT);
        size += wire_write_varint(out + size, (uint64_t)us * 1000);
    }
    return size;
}

void wire_put_timestamp(struct buffer *buffer, uint32_t field, int64_t time_us)
{
    uint8_t bytes[2 * (1 + WIRE_VARINT_BYTES_MAX)];

    wire_put_bytes(buffer, field, slice_of(bytes, write_time(bytes, time_us)));
}

size_t wire_write_timestamp(uint8_t out[static WIRE_TIMESTAMP_BYTES_MAX], uint32_t field,
                            int64_t time_us)
{
    size_t size = write_time(out + 2, time_us);

    ASSERT(field <= 15);
    out[0] = (uint8_t)(field << 3 | WIRE_BYTES);
    out[1] = (uint8_t)size;
    return size + 2;
}

/* Returns the bytes of the varint at the start of `rest`; 0 if there is none. */
static size_t read_long_varint(struct slice rest, uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t limit = rest.size < WIRE_VARINT_BYTES_MAX ? rest.size : WIRE_VARINT_BYTES_MAX;

    for (size_t i = 0; i < limit; i++) {
        uint8_t byte = rest.data[i];

        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            bool overflows = i == WIRE_VARINT_BYTES_MAX - 1 && byte > 1;

            *ret_value = value;
            return overflows ? 0 : i + 1;
        }
    }
    return 0;
}

/* Reads a varint; inline for the most frequent ones, of one byte. */
static inline size_t read_varint(struct slice rest, uint64_t *ret_value)
{
    if (rest.size > 0 && rest.data[0] < 0x80) {
        *ret_value = rest.data[0];
        return 1;
    }
    return read_long_varint(rest, ret_value);
}

/* Reads `size` little-endian bytes. */
static bool read_fixed(struct slice *rest, size_t size, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (rest->size < size) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        value |= (uint64_t)rest->data[i] << (8 * i);
    }
    *ret_value = value;
    *rest = slice_after(*rest, size);
    return true;
}

static bool read_value(struct slice *rest, struct wire_field *field)
{
    uint64_t size = 0;
    size_t used = 0;

    switch (field->type) {
    case WIRE_VARINT:
        used = read_varint(*rest, &field->value);
        *rest = slice_after(*rest, used);
        return used > 0;
    case WIRE_FIXED64:
        return read_fixed(rest, 8, &field->value);
    case WIRE_FIXED32:
        return read_fixed(rest, 4, &field->value);
    case WIRE_BYTES:
        used = read_varint(*rest, &size);
        if (used == 0 || size > rest->size - used) {
            return false;
        }
        field->bytes = slice_of(rest->data + used, (size_t)size);
        *rest = slice_after(*rest, used + (size_t)size);
        return true;
    }
    return false; /* groups, and the two undefined wire types */
}

enum err wire_next(struct wire_reader *reader, struct wire_field *ret_field)
{
    struct wire_field field;
    struct slice rest = reader->rest;
    uint64_t tag = 0;
    size_t used = 0;

    if (rest.size == 0) {
        return ERR_NOT_FOUND;
    }
    field.value = 0;
    field.bytes = slice_of(NULL, 0);
    used = read_varint(rest, &tag);
    if (used == 0 || used > TAG_BYTES_MAX || tag > UINT32_MAX || tag >> 3 == 0) {
        return ERR_MALFORMED;
    }
    rest = slice_after(rest, used);
    field.number = (uint32_t)(tag >> 3);
    field.type = (enum wire_type)(tag & 7);
    if (!read_value(&rest, &field)) {
        return ERR_MALFORMED;
    }
    reader->rest = rest;
    *ret_field = field;
    return OK;
}

bool wire_take_packed(struct slice *rest, enum wire_type type, uint64_t *ret_value)
{
    struct wire_field field = {.type = type};
    struct slice after = *rest;

    if (type == WIRE_BYTES || !read_value(&after, &field)) {
        return false;
    }
    *rest = after;
    *ret_value = field.value;
    return true;
}

enum err wire_read_timestamp(struct slice message, int64_t *ret_time_us)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field = {0};
    int64_t seconds = 0;
    int32_t nanos = 0;
    int64_t time_us = 0;
    enum err err = wire_next(&reader, &field);

    for (; err == OK; err = wire_next(&reader, &field)) {
        bool is_known = field.number == TIMESTAMP_SECONDS || field.number == TIMESTAMP_NANOS;

        if (is_known && field.type != WIRE_VARINT) {
            return ERR_MALFORMED;
        }
        if (field.number == TIMESTAMP_SECONDS) {
            seconds = (int64_t)field.value;
        } else if (field.number == TIMESTAMP_NANOS) {
            nanos = (int32_t)(uint32_t)field.value;
        }
    }
    if (err != ERR_NOT_FOUND || nanos < 0 || nanos > 999999999 ||
        __builtin_mul_overflow(seconds, (int64_t)1000000, &time_us) ||
        __builtin_add_overflow(time_us, (int64_t)nanos / 1000, &time_us)) {
        return ERR_MALFORMED;
    }
    *ret_time_us = time_us;
    return OK;
}
