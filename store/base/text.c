/*
 * text.c: UTF-8 by RFC 3629, table 3-7 of the Unicode standard. ASCII is processed eight bytes at a
 * time, since most text here is ASCII.
 */
#include "store/base/text.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

static uint64_t load8(const uint8_t *at)
{
    uint64_t word = 0;

    memcpy(&word, at, sizeof(word));
    return word;
}

/* Index of the first byte at or after `at` that is not ASCII; the size if there is none. */
static size_t skip_ascii(struct slice text, size_t at)
{
    while (text.size - at >= 8 && (load8(text.data + at) & HIGH_BITS) == 0) {
        at += 8;
    }
    while (at < text.size && text.data[at] < 0x80) {
        at++;
    }
    return at;
}

static bool is_tail(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The second byte's range depends on the first: overlong forms, surrogates, above U+10FFFF. */
static bool second_fits(uint8_t first, uint8_t second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return is_tail(second);
    }
}

size_t text_sequence_bytes(struct slice text)
{
    const uint8_t *at = text.data;
    size_t size = 0;

    if (text.size == 0) {
        return 0;
    }
    if (at[0] < 0x80) {
        return 1;
    }
    if (at[0] >= 0xc2 && at[0] <= 0xdf) {
        size = 2;
    } else if (at[0] >= 0xe0 && at[0] <= 0xef) {
        size = 3;
    } else if (at[0] >= 0xf0 && at[0] <= 0xf4) {
        size = 4;
    }
    if (size == 0 || size > text.size || !second_fits(at[0], at[1])) {
        return 0;
    }
    if ((size >= 3 && !is_tail(at[2])) || (size == 4 && !is_tail(at[3]))) {
        return 0;
    }
    return size;
}

bool text_is_utf8(struct slice text)
{
    size_t at = skip_ascii(text, 0);

    while (at < text.size) {
        size_t size = text_sequence_bytes(slice_after(text, at));

        if (size == 0) {
            return false;
        }
        at += size;
        if (at < text.size && text.data[at] < 0x80) {
            at = skip_ascii(text, at);
        }
    }
    return true;
}

/* Returns whether none of the eight bytes is a control character or above ASCII. */
static bool is_plain8(uint64_t word)
{
    uint64_t del = word ^ UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t marks =
        word | (word - UINT64_C(0x2020202020202020)) | (del - UINT64_C(0x0101010101010101));

    return (marks & HIGH_BITS) == 0;
}

/* Returns whether the whole text is ASCII without control characters, as most ids and names are:
 * eight bytes at a time, the last eight overlapping those before. */
static bool is_plain(struct slice text)
{
    size_t last = text.size - 8;

    for (size_t at = 0; at < last; at += 8) {
        if (!is_plain8(load8(text.data + at))) {
            return false;
        }
    }
    return is_plain8(load8(text.data + last));
}

bool text_has_control(struct slice text)
{
    size_t at = 0;

    if (text.size >= 8 && is_plain(text)) {
        return false;
    }
    while (at < text.size) {
        uint8_t byte = text.data[at];

        if (text.size - at >= 8 && is_plain8(load8(text.data + at))) {
            at += 8;
            continue;
        }
        if (byte < 0x20 || byte == 0x7f) {
            return true;
        }
        if (byte == 0xc2 && at + 1 < text.size && text.data[at + 1] < 0xa0) {
            return true;
        }
        at++;
    }
    return false;
}

struct slice text_first_characters(struct slice text, size_t characters)
{
    size_t at = 0;

    while (at < text.size) {
        if (!is_tail(text.data[at])) {
            if (characters == 0) {
                break;
            }
            characters--;
        }
        at++;
    }
    return slice_of(text.data, at);
}

struct slice text_first_bytes(struct slice text, size_t bytes)
{
    if (bytes >= text.size) {
        return text;
    }
    while (bytes > 0 && is_tail(text.data[bytes])) {
        bytes--;
    }
    return slice_of(text.data, bytes);
}

uint32_t text_next(struct slice text, size_t *at)
{
    const uint8_t *from = text.data + *at;

    if (from[0] < 0x80) {
        *at += 1;
        return from[0];
    }
    if (from[0] < 0xe0) {
        *at += 2;
        return (uint32_t)(from[0] & 0x1f) << 6 | (uint32_t)(from[1] & 0x3f);
    }
    if (from[0] < 0xf0) {
        *at += 3;
        return (uint32_t)(from[0] & 0x0f) << 12 | (uint32_t)(from[1] & 0x3f) << 6 |
               (uint32_t)(from[2] & 0x3f);
    }
    *at += 4;
    return (uint32_t)(from[0] & 0x07) << 18 | (uint32_t)(from[1] & 0x3f) << 12 |
           (uint32_t)(from[2] & 0x3f) << 6 | (uint32_t)(from[3] & 0x3f);
}

size_t text_encode(uint32_t code_point, uint8_t bytes[4])
{
    if (code_point < 0x80) {
        bytes[0] = (uint8_t)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        bytes[0] = (uint8_t)(0xc0 | code_point >> 6);
        bytes[1] = (uint8_t)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        bytes[0] = (uint8_t)(0xe0 | code_point >> 12);
        bytes[1] = (uint8_t)(0x80 | (code_point >> 6 & 0x3f));
        bytes[2] = (uint8_t)(0x80 | (code_point & 0x3f));
        return 3;
    }
    bytes[0] = (uint8_t)(0xf0 | code_point >> 18);
    bytes[1] = (uint8_t)(0x80 | (code_point >> 12 & 0x3f));
    bytes[2] = (uint8_t)(0x80 | (code_point >> 6 & 0x3f));
    bytes[3] = (uint8_t)(0x80 | (code_point & 0x3f));
    return 4;
}
