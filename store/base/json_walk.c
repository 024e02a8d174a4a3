/*
 * json_walk.c: members and elements of checked text, and the content of its strings. Skipping a
 * value reads it once; nothing is cached, so a walk down d levels reads the innermost text d times.
 */
#include "store/base/json_internal.h"

#include "store/base/hex.h"
#include "store/base/text.h"

enum json_kind json_kind_of(uint8_t first)
{
    switch (first) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
        return JSON_TRUE;
    case 'f':
        return JSON_FALSE;
    case 'n':
        return JSON_NULL;
    default:
        return JSON_NUMBER;
    }
}

static size_t find_byte(struct slice text, size_t from, size_t to, uint8_t byte)
{
    const uint8_t *found = from < to ? memchr(text.data + from, byte, to - from) : NULL;

    return found == NULL ? to : (size_t)(found - text.data);
}

/* Returns the index after the closing quote of the string that starts at `at`. Searches for each
 * quote once, not once per escape: a long text of escapes takes linear time. */
static size_t skip_string(struct slice text, size_t at)
{
    size_t quote = 0;

    for (at++; at < text.size;) {
        size_t escape = 0;

        if (quote < at) {
            quote = find_byte(text, at, text.size, '"');
        }
        escape = find_byte(text, at, quote, '\\');
        if (escape == quote) {
            return quote < text.size ? quote + 1 : quote;
        }
        at = escape + 2;
    }
    return text.size;
}

static size_t skip_container(struct slice text, size_t at)
{
    size_t depth = 0;

    while (at < text.size) {
        uint8_t byte = text.data[at];

        if (byte == '"') {
            at = skip_string(text, at);
            continue;
        }
        at++;
        if (byte == '{' || byte == '[') {
            depth++;
        } else if (byte == '}' || byte == ']') {
            depth--;
            if (depth == 0) {
                return at;
            }
        }
    }
    return at;
}

size_t json_skip_value(struct slice text, size_t at)
{
    if (at >= text.size) {
        return at;
    }
    if (text.data[at] == '"') {
        return skip_string(text, at);
    }
    if (text.data[at] == '{' || text.data[at] == '[') {
        return skip_container(text, at);
    }
    while (at < text.size && text.data[at] != ',' && text.data[at] != ']' && text.data[at] != '}' &&
           !json_is_space(text.data[at])) {
        at++;
    }
    return at;
}

static size_t skip_spaces_and(struct slice text, size_t at, uint8_t separator)
{
    while (at < text.size && (json_is_space(text.data[at]) || text.data[at] == separator)) {
        at++;
    }
    return at;
}

struct json_walk json_walk_start(struct json_value container)
{
    struct json_walk walk = {slice_of(NULL, 0), container.kind == JSON_OBJECT};

    if (container.text.size > 0 &&
        (container.kind == JSON_OBJECT || container.kind == JSON_ARRAY)) {
        walk.rest = slice_after(container.text, 1);
    }
    return walk;
}

bool json_walk_next(struct json_walk *walk, struct slice *ret_key, struct json_value *ret_value)
{
    struct slice rest = walk->rest;
    struct slice key = {NULL, 0};
    size_t at = skip_spaces_and(rest, 0, ',');
    size_t end = 0;

    if (at >= rest.size || rest.data[at] == '}' || rest.data[at] == ']') {
        return false;
    }
    if (walk->is_object) {
        end = skip_string(rest, at);
        key = slice_of(rest.data + at, end - at);
        at = skip_spaces_and(rest, end, ':');
        if (at >= rest.size) {
            return false;
        }
    }
    end = json_skip_value(rest, at);
    ret_value->kind = json_kind_of(rest.data[at]);
    ret_value->text = slice_of(rest.data + at, end - at);
    *ret_key = key;
    walk->rest = slice_after(rest, end);
    return true;
}

struct slice json_unquoted(struct slice quoted)
{
    return quoted.size < 2 ? slice_of(NULL, 0) : slice_of(quoted.data + 1, quoted.size - 2);
}

/* Reads digits that were checked. */
static uint32_t hex_unit(const uint8_t *digits)
{
    uint32_t unit = 0;

    for (size_t i = 0; i < 4; i++) {
        unit = unit << 4 | (uint32_t)hex_value(digits[i]);
    }
    return unit;
}

static size_t decode_unicode(struct slice *rest, uint8_t bytes[4])
{
    uint32_t unit = hex_unit(rest->data + 2);

    *rest = slice_after(*rest, 6);
    if (unit >= 0xd800 && unit <= 0xdbff && rest->size >= 6) {
        uint32_t low = hex_unit(rest->data + 2);

        *rest = slice_after(*rest, 6);
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    return text_encode(unit, bytes);
}

static uint8_t escape_meaning(uint8_t letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter;
    }
}

size_t json_decode_next(struct slice *rest, uint8_t bytes[4])
{
    size_t size = 1;

    if (rest->data[0] != '\\') {
        size = text_sequence_bytes(*rest);
        size = size == 0 ? 1 : size;
        memcpy(bytes, rest->data, size);
        *rest = slice_after(*rest, size);
        return size;
    }
    if (rest->size >= 6 && rest->data[1] == 'u') {
        return decode_unicode(rest, bytes);
    }
    bytes[0] = rest->size >= 2 ? escape_meaning(rest->data[1]) : '\\';
    *rest = slice_after(*rest, rest->size >= 2 ? 2 : 1);
    return 1;
}

struct slice json_take_plain(struct slice *rest)
{
    const uint8_t *escape = rest->size > 0 ? memchr(rest->data, '\\', rest->size) : NULL;
    size_t size = escape == NULL ? rest->size : (size_t)(escape - rest->data);
    struct slice plain = slice_of(rest->data, size);

    *rest = slice_after(*rest, size);
    return plain;
}

enum err json_string(struct arena *arena, struct slice quoted, struct slice *ret_text)
{
    struct slice rest = json_unquoted(quoted);
    uint8_t *text = NULL;
    size_t size = 0;

    if (rest.size == 0 || memchr(rest.data, '\\', rest.size) == NULL) {
        *ret_text = rest;
        return OK;
    }
    text = arena_alloc(arena, rest.size); /* an escape is never shorter than its character */
    if (text == NULL) {
        return ERR_MEMORY;
    }
    while (rest.size > 0) {
        struct slice plain = json_take_plain(&rest);
        uint8_t bytes[4];
        size_t decoded = 0;

        memcpy(text + size, plain.data, plain.size);
        size += plain.size;
        if (rest.size > 0) {
            decoded = json_decode_next(&rest, bytes);
            memcpy(text + size, bytes, decoded);
            size += decoded;
        }
    }
    *ret_text = slice_of(text, size);
    return OK;
}

bool json_key_is(struct slice quoted, struct slice name)
{
    struct slice rest = json_unquoted(quoted);

    if (rest.size < name.size) {
        return false;
    }
    if (rest.size == 0 || memchr(rest.data, '\\', rest.size) == NULL) {
        return slice_equal(rest, name);
    }
    while (rest.size > 0) {
        uint8_t bytes[4];
        size_t size = json_decode_next(&rest, bytes);

        if (!slice_starts_with(name, slice_of(bytes, size))) {
            return false;
        }
        name = slice_after(name, size);
    }
    return name.size == 0;
}

bool json_member(struct json_value object, struct slice name, struct json_value *ret_value)
{
    struct json_walk walk = json_walk_start(object);
    struct json_value value = {0};
    struct slice key = {NULL, 0};

    if (object.kind != JSON_OBJECT) {
        return false;
    }
    while (json_walk_next(&walk, &key, &value)) {
        if (json_key_is(key, name)) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}
