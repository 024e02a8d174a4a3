/*
 * json_internal.h: shared by the JSON files: steps over tokens of text that json_check has
 * accepted. None of them checks for a missing end, so they must not see unchecked text.
 */
#ifndef ERRATA_STORE_BASE_JSON_INTERNAL_H
#define ERRATA_STORE_BASE_JSON_INTERNAL_H

#include "store/base/json.h"

static inline bool json_is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

#define JSON_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Marks, in the high bit of each byte, the bytes that are zero. The lowest mark is correct; there may be
 * false ones above it. */
static inline uint64_t json_mark_zero(uint64_t word)
{
    return (word - JSON_EACH_BYTE(1)) & ~word & JSON_EACH_BYTE(0x80);
}

/* Marks, in the same way, the bytes that a string's scan must examine: quotes, backslashes, control
 * characters, bytes above ASCII. */
static inline uint64_t json_mark_special(uint64_t word)
{
    uint64_t control = (word - JSON_EACH_BYTE(0x20)) & ~word;

    return json_mark_zero(word ^ JSON_EACH_BYTE('"')) |
           json_mark_zero(word ^ JSON_EACH_BYTE('\\')) | ((control | word) & JSON_EACH_BYTE(0x80));
}

/* Returns the content between the quotes. */
struct slice json_unquoted(struct slice quoted);
/* Returns the bytes before the first escape, and moves past them. */
struct slice json_take_plain(struct slice *rest);
/* Decodes the escape or copies the code point at the start of `rest`, and moves past it; returns
 * the number of bytes written, 1 to 4. */
size_t json_decode_next(struct slice *rest, uint8_t bytes[4]);

/* A decimal number in parts: digits without zeros at both ends, and the exponent of the last
 * one. */
struct json_decimal {
    bool is_negative;
    struct slice digits; /* digits as written, possibly with a decimal point */
    int64_t exponent;
    bool is_huge; /* the exponent does not fit */
};

/* Reads a checked number that is not NaN and not infinite. */
struct json_decimal json_decimal_of(struct slice number);

#endif
