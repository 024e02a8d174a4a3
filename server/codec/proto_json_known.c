/*
 * proto_json_known.c: the well-known types that proto JSON writes as one string: Timestamp, Duration
 * and FieldMask.
 */
#include "server/codec/proto_json_internal.h"

#include "store/base/timestamp.h"

#include <stdlib.h>

/* Fields of Timestamp and Duration; and `paths` of FieldMask. */
#define SECONDS 1
#define NANOS 2
#define PATHS 1

#define NANOS_MAX 999999999

static void put_seconds(struct buffer *wire, int64_t seconds, int32_t nanos)
{
    if (seconds != 0) {
        wire_put_varint(wire, SECONDS, (uint64_t)seconds);
    }
    if (nanos != 0) {
        wire_put_varint(wire, NANOS, (uint64_t)(int64_t)nanos);
    }
}

static bool take_seconds(struct slice wire, int64_t *ret_seconds, int64_t *ret_nanos)
{
    struct wire_reader reader = wire_reader_of(wire);
    struct wire_field field = {0};
    enum err err = wire_next(&reader, &field);

    *ret_seconds = 0;
    *ret_nanos = 0;
    for (; err == OK; err = wire_next(&reader, &field)) {
        if (field.number == SECONDS && field.type == WIRE_VARINT) {
            *ret_seconds = (int64_t)field.value;
        } else if (field.number == NANOS && field.type == WIRE_VARINT) {
            *ret_nanos = (int32_t)(uint32_t)field.value;
        } else if (field.number == SECONDS || field.number == NANOS) {
            return false;
        }
    }
    return err == ERR_NOT_FOUND;
}

bool known_read_timestamp(struct slice text, struct buffer *wire)
{
    int64_t seconds = 0;
    int32_t nanos = 0;

    if (!timestamp_parse(text, &seconds, &nanos)) {
        return false;
    }
    put_seconds(wire, seconds, nanos);
    return true;
}

bool known_write_timestamp(struct slice wire, struct buffer *json)
{
    char text[TIMESTAMP_TEXT_BYTES_MAX];
    int64_t seconds = 0;
    int64_t nanos = 0;

    if (!take_seconds(wire, &seconds, &nanos) || seconds < TIMESTAMP_SECONDS_MIN ||
        seconds > TIMESTAMP_SECONDS_MAX || nanos < 0 || nanos > NANOS_MAX) {
        return false;
    }
    json_write_string(json, slice_of(text, timestamp_format(seconds, (int32_t)nanos, text)), false);
    return true;
}

/* Reads up to 12 digits; returns how many there were. */
static size_t take_digits(struct slice text, size_t at, int64_t *ret_value)
{
    size_t count = 0;
    int64_t value = 0;

    while (at + count < text.size && count < 12 && text.data[at + count] >= '0' &&
           text.data[at + count] <= '9') {
        value = value * 10 + (text.data[at + count] - '0');
        count++;
    }
    *ret_value = value;
    return count;
}

bool known_read_duration(struct slice text, struct buffer *wire)
{
    bool is_negative = text.size > 0 && text.data[0] == '-';
    size_t at = is_negative;
    int64_t seconds = 0;
    int64_t nanos = 0;
    size_t digits = take_digits(text, at, &seconds);

    at += digits;
    if (digits == 0 || seconds > DURATION_SECONDS_MAX) {
        return false;
    }
    if (at < text.size && text.data[at] == '.') {
        digits = take_digits(text, at + 1, &nanos);
        at += 1 + digits;
        if (digits == 0 || digits > 9) {
            return false;
        }
        for (; digits < 9; digits++) {
            nanos *= 10;
        }
    }
    if (at + 1 != text.size || text.data[at] != 's' ||
        (seconds == DURATION_SECONDS_MAX && nanos != 0)) {
        return false;
    }
    put_seconds(wire, is_negative ? -seconds : seconds, (int32_t)(is_negative ? -nanos : nanos));
    return true;
}

bool known_write_duration(struct slice wire, struct buffer *json)
{
    int64_t seconds = 0;
    int64_t nanos = 0;
    bool is_negative = false;

    if (!take_seconds(wire, &seconds, &nanos) || seconds > DURATION_SECONDS_MAX ||
        seconds < -DURATION_SECONDS_MAX || nanos > NANOS_MAX || nanos < -NANOS_MAX ||
        (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0)) {
        return false;
    }
    is_negative = seconds < 0 || nanos < 0;
    seconds = is_negative ? -seconds : seconds;
    nanos = is_negative ? -nanos : nanos;
    buffer_printf(json, "\"%s%lld", is_negative ? "-" : "", (long long)seconds);
    if (nanos % 1000 != 0) {
        buffer_printf(json, ".%09lld", (long long)nanos);
    } else if (nanos % 1000000 != 0) {
        buffer_printf(json, ".%06lld", (long long)nanos / 1000);
    } else if (nanos != 0) {
        buffer_printf(json, ".%03lld", (long long)nanos / 1000000);
    }
    buffer_append(json, SLICE("s\""));
    return true;
}

static bool is_upper(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z';
}

static bool is_lower(uint8_t byte)
{
    return byte >= 'a' && byte <= 'z';
}

/* Converts fooBar.baz to foo_bar.baz. */
static bool read_path(struct slice path, struct buffer *wire)
{
    size_t uppers = 0;

    for (size_t i = 0; i < path.size; i++) {
        if (path.data[i] == '_') {
            return false;
        }
        uppers += is_upper(path.data[i]);
    }
    wire_put_header(wire, PATHS, path.size + uppers);
    for (size_t i = 0; i < path.size; i++) {
        if (is_upper(path.data[i])) {
            buffer_append_byte(wire, '_');
        }
        buffer_append_byte(wire, path.data[i] | (is_upper(path.data[i]) ? 0x20 : 0));
    }
    return path.size > 0;
}

bool known_read_field_mask(struct slice text, struct buffer *wire)
{
    struct slice rest = text;

    while (rest.size > 0) {
        const uint8_t *comma = memchr(rest.data, ',', rest.size);
        size_t size = comma == NULL ? rest.size : (size_t)(comma - rest.data);

        if (!read_path(slice_of(rest.data, size), wire)) {
            return false;
        }
        rest = slice_after(rest, size);
        if (rest.size == 1) {
            return false; /* a comma at the end */
        }
        rest = slice_after(rest, rest.size > 0);
    }
    return true;
}

/* Converts foo_bar.baz to fooBar.baz; fails if converting back would give another path. */
static bool write_path(struct slice path, struct buffer *content)
{
    for (size_t i = 0; i < path.size; i++) {
        uint8_t byte = path.data[i];

        if (is_upper(byte)) {
            return false;
        }
        if (byte == '_') {
            i++;
            if (i == path.size || !is_lower(path.data[i])) {
                return false;
            }
            byte = path.data[i] & 0xdf;
        }
        buffer_append_byte(content, byte);
    }
    return true;
}

bool known_write_field_mask(struct slice wire, struct buffer *json)
{
    struct wire_reader reader = wire_reader_of(wire);
    struct wire_field field = {0};
    struct buffer content;
    enum err err = wire_next(&reader, &field);

    buffer_init(&content, json->arena, 0);
    for (; err == OK; err = wire_next(&reader, &field)) {
        if (field.number != PATHS) {
            continue;
        }
        if (content.size > 0) {
            buffer_append_byte(&content, ',');
        }
        if (field.type != WIRE_BYTES || !write_path(field.bytes, &content)) {
            return false;
        }
    }
    json_write_string(json, buffer_slice(&content), false);
    json->failed = json->failed || !buffer_ok(&content);
    return err == ERR_NOT_FOUND;
}
