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

/* Returns the content between the quotes. */
struct slice json_unquoted(struct slice quoted);
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
