/*
 * fields.c: see fields.h.
 */
#include "tools/errata/import/fields.h"

#include "store/base/uuid.h"

#define US_PER_SECOND INT64_C(1000000)

struct json_value fields_parsed(struct arena *arena, struct json_value value)
{
    const struct json_rules rules = {.depth_max = JSON_FIELD_DEPTH_MAX};
    struct json_value parsed = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    struct slice text = {NULL, 0};

    if (value.kind != JSON_STRING || json_string(arena, value.text, &text) != OK || text.size < 2 ||
        (text.data[0] != '{' && text.data[0] != '[')) {
        return value;
    }
    return json_check(arena, text, &rules, &parsed, &problem) == OK ? parsed : value;
}

struct json_value fields_quoted(struct arena *arena, struct slice text)
{
    struct json_value value = {JSON_NULL, SLICE("null")};
    struct buffer json;

    buffer_init(&json, arena, text.size + JSON_STRING_ROOM_BYTES);
    json_write_string(&json, text, false);
    if (buffer_ok(&json)) {
        value = (struct json_value){JSON_STRING, buffer_slice(&json)};
    }
    return value;
}

static bool is_absent(struct json_value value)
{
    return value.kind == JSON_NULL || (value.kind == JSON_STRING && value.text.size == 2);
}

/* Finds the member with the longest name that is a prefix of the path; removes it from the path. */
static bool find_longest(struct json_value object, struct slice *path, struct json_value *ret_value)
{
    for (size_t size = path->size; size > 0; size--) {
        bool is_end = size == path->size || path->data[size] == '.';

        if (is_end && json_member(object, slice_of(path->data, size), ret_value)) {
            *path = size == path->size ? slice_of(NULL, 0) : slice_after(*path, size + 1);
            return true;
        }
    }
    return false;
}

bool fields_find(struct arena *arena, struct json_value record, const char *path,
                 struct json_value *ret_value)
{
    struct json_value value = record;
    struct slice rest = slice_text(path);

    for (unsigned names = 0; rest.size > 0 && names < FIELDS_PATH_NAMES_MAX; names++) {
        value = fields_parsed(arena, value);
        if (value.kind != JSON_OBJECT || !find_longest(value, &rest, &value)) {
            return false;
        }
    }
    if (rest.size > 0 || is_absent(value)) {
        return false;
    }
    *ret_value = value;
    return true;
}

struct slice fields_value_text(struct arena *arena, struct json_value value)
{
    struct slice text = value.text;

    if (value.kind == JSON_STRING && json_string(arena, value.text, &text) != OK) {
        return slice_of(NULL, 0);
    }
    return text;
}

struct slice fields_text(struct arena *arena, struct json_value record, const char *path)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};

    return fields_find(arena, record, path, &value) ? fields_value_text(arena, value)
                                                    : slice_of(NULL, 0);
}

/* --- times --- */

static bool is_digits(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
    }
    return text.size > 0;
}

/* Seconds have 9 or 10 digits between 1973 and 2286, each finer unit has 3 more. */
static bool read_digits(struct slice text, int64_t *ret_us)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.size; i++) {
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    switch (text.size) {
    case 9:
    case 10:
        *ret_us = (int64_t)number * US_PER_SECOND;
        return true;
    case 12:
    case 13:
        *ret_us = (int64_t)number * 1000;
        return true;
    case 15:
    case 16:
        *ret_us = (int64_t)number;
        return true;
    case 18:
    case 19:
        *ret_us = (int64_t)(number / 1000);
        return true;
    default:
        return false;
    }
}

/* Writes a text as RFC 3339 if it is one of the looser forms. */
static struct slice strict_form(struct slice text, char bytes[48])
{
    size_t size = text.size;

    if (size < 10 || size > 40) {
        return text;
    }
    memcpy(bytes, text.data, size);
    if (size == 10) {
        memcpy(bytes + size, "T00:00:00Z", 10);
        return slice_of(bytes, size + 10);
    }
    if (bytes[10] == ' ' || bytes[10] == 't') {
        bytes[10] = 'T';
    }
    if (size > 4 && memcmp(bytes + size - 4, " UTC", 4) == 0) {
        size -= 4;
    }
    if (bytes[size - 1] == 'z') {
        bytes[size - 1] = 'Z';
    }
    if (memchr(bytes + 10, 'Z', size - 10) == NULL && memchr(bytes + 10, '+', size - 10) == NULL &&
        memchr(bytes + 10, '-', size - 10) == NULL) {
        bytes[size++] = 'Z';
    }
    return slice_of(bytes, size);
}

bool fields_time(struct slice text, int64_t *ret_us)
{
    struct uuid uuid;
    char bytes[48];
    int64_t seconds = 0;
    int32_t nanos = 0;

    if (is_digits(text)) {
        return read_digits(text, ret_us);
    }
    if (uuid_parse(text, &uuid)) {
        int64_t ms = 0;

        for (size_t i = 0; i < 6; i++) {
            ms = ms * 256 + uuid.bytes[i];
        }
        *ret_us = ms * 1000;
        return uuid.bytes[6] >> 4 == 7 && *ret_us <= FIELDS_TIME_US_MAX;
    }
    if (!timestamp_parse(strict_form(text, bytes), &seconds, &nanos)) {
        return false;
    }
    *ret_us = seconds * US_PER_SECOND + nanos / 1000;
    return true;
}

struct slice fields_time_text(struct arena *arena, int64_t us)
{
    char text[TIMESTAMP_TEXT_BYTES_MAX];
    int64_t seconds = us / US_PER_SECOND;
    int32_t micros = (int32_t)(us % US_PER_SECOND);
    struct slice copy = {NULL, 0};

    if (micros < 0) {
        seconds--;
        micros += (int32_t)US_PER_SECOND;
    }
    return arena_copy(arena, slice_of(text, timestamp_format(seconds, micros * 1000, text)), &copy)
               ? copy
               : slice_of(NULL, 0);
}
