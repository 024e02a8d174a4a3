/*
 * grpc_text.c: encodings of header fields.
 */
#include "server/grpc/grpc_text.h"

#include "server/call/server.h"
#include "store/base/base64.h"

/* Maximum digits of a timeout that the protocol allows. */
#define GRPC_TIMEOUT_DIGITS_MAX 8

bool grpc_name_is_binary(struct slice name)
{
    return name.size >= 4 && memcmp(name.data + name.size - 4, "-bin", 4) == 0;
}

struct slice grpc_trim(struct slice text)
{
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text = slice_after(text, 1);
    }
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t')) {
        text.size--;
    }
    return text;
}

struct slice grpc_first_of_list(struct slice list)
{
    const uint8_t *comma = list.size > 0 ? memchr(list.data, ',', list.size) : NULL;

    if (comma != NULL) {
        list.size = (size_t)(comma - list.data);
    }
    return grpc_trim(list);
}

bool grpc_list_has(struct slice list, struct slice word)
{
    while (list.size > 0) {
        const uint8_t *comma = memchr(list.data, ',', list.size);

        if (slice_equal(grpc_first_of_list(list), word)) {
            return true;
        }
        list =
            comma == NULL ? slice_of(NULL, 0) : slice_after(list, (size_t)(comma - list.data) + 1);
    }
    return false;
}

enum err grpc_base64_decode(struct arena *arena, struct slice text, struct slice *ret_bytes)
{
    uint8_t *bytes = arena_alloc(arena, text.size + 1);
    size_t size = 0;

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    if (!base64_read(text, BASE64_STANDARD | BASE64_PADDED, bytes, &size)) {
        return ERR_INVALID;
    }
    *ret_bytes = slice_of(bytes, size);
    return OK;
}

enum err grpc_base64_encode(struct arena *arena, struct slice bytes, struct slice *ret_text)
{
    uint8_t *text = arena_alloc(arena, BASE64_DIGITS(bytes.size) + 1);

    if (text == NULL) {
        return ERR_MEMORY;
    }
    *ret_text = slice_of(text, base64_write(bytes, BASE64_STANDARD, text));
    return OK;
}

static bool grpc_is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte <= 0x7e && byte != '%';
}

enum err grpc_percent_encode(struct arena *arena, struct slice text, struct slice *ret_encoded)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t odd = 0;
    char *encoded = NULL;
    size_t size = 0;

    for (size_t i = 0; i < text.size; i++) {
        odd += grpc_is_plain(text.data[i]) ? 0 : 1;
    }
    if (odd == 0) {
        *ret_encoded = text;
        return OK;
    }
    encoded = arena_alloc(arena, text.size + 2 * odd);
    if (encoded == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        if (grpc_is_plain(byte)) {
            encoded[size++] = (char)byte;
        } else {
            encoded[size++] = '%';
            encoded[size++] = hex[byte >> 4];
            encoded[size++] = hex[byte & 15];
        }
    }
    *ret_encoded = slice_of(encoded, size);
    return OK;
}

/* Returns the nanoseconds of a unit, or 0. */
static int64_t grpc_timeout_unit_ns(uint8_t unit)
{
    switch (unit) {
    case 'H':
        return INT64_C(3600) * 1000000000;
    case 'M':
        return INT64_C(60) * 1000000000;
    case 'S':
        return 1000000000;
    case 'm':
        return 1000000;
    case 'u':
        return 1000;
    case 'n':
        return 1;
    default:
        return 0;
    }
}

enum err grpc_timeout_parse(struct slice text, int64_t *ret_us)
{
    int64_t count = 0;
    int64_t unit_ns = 0;
    size_t digits = 0;

    while (digits < text.size && digits <= GRPC_TIMEOUT_DIGITS_MAX && text.data[digits] >= '0' &&
           text.data[digits] <= '9') {
        count = count * 10 + (text.data[digits] - '0');
        digits++;
    }
    if (digits == 0 || digits > GRPC_TIMEOUT_DIGITS_MAX || digits + 1 != text.size) {
        return ERR_INVALID;
    }
    unit_ns = grpc_timeout_unit_ns(text.data[digits]);
    if (unit_ns == 0) {
        return ERR_INVALID;
    }
    if (unit_ns < 1000) {
        *ret_us =
            count / 1000; /* rounded down: less than a microsecond has passed when it is read */
    } else if (count > CALL_TIMEOUT_US_MAX / (unit_ns / 1000)) {
        *ret_us = CALL_TIMEOUT_US_MAX;
    } else {
        *ret_us = count * (unit_ns / 1000);
    }
    return OK;
}
