/*
 * base64.c: encodes and decodes base64, six bits per digit.
 */
#include "store/base/base64.h"

static const uint8_t standard_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const uint8_t url_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t base64_write(struct slice bytes, unsigned form, uint8_t *text)
{
    const uint8_t *digits = (form & BASE64_URL) != 0 ? url_digits : standard_digits;
    uint32_t bits = 0;
    unsigned bit_count = 0;
    size_t size = 0;
    size_t at = 0;

    /* Whole groups first: three bytes, four digits. */
    for (; bytes.size - at >= 3; at += 3) {
        bits =
            (uint32_t)bytes.data[at] << 16 | (uint32_t)bytes.data[at + 1] << 8 | bytes.data[at + 2];
        text[size] = digits[bits >> 18];
        text[size + 1] = digits[bits >> 12 & 63];
        text[size + 2] = digits[bits >> 6 & 63];
        text[size + 3] = digits[bits & 63];
        size += 4;
    }
    for (; at < bytes.size; at++) {
        bits = bits << 8 | bytes.data[at];
        bit_count += 8;
        while (bit_count >= 6) {
            bit_count -= 6;
            text[size++] = digits[bits >> bit_count & 63];
        }
    }
    if (bit_count > 0) {
        text[size++] = digits[bits << (6 - bit_count) & 63];
    }
    while ((form & BASE64_PADDED) != 0 && size % 4 != 0) {
        text[size++] = '=';
    }
    return size;
}

/* Returns the value of a digit of the form's alphabet, or -1. */
static int digit_value(uint8_t digit, unsigned form)
{
    bool standard = (form & BASE64_STANDARD) != 0;
    bool url = (form & BASE64_URL) != 0;

    if (digit >= 'A' && digit <= 'Z') {
        return digit - 'A';
    }
    if (digit >= 'a' && digit <= 'z') {
        return digit - 'a' + 26;
    }
    if (digit >= '0' && digit <= '9') {
        return digit - '0' + 52;
    }
    if ((digit == '+' && standard) || (digit == '-' && url)) {
        return 62;
    }
    return (digit == '/' && standard) || (digit == '_' && url) ? 63 : -1;
}

/* Returns the digits before the padding. */
static size_t count_digits(struct slice text, unsigned form)
{
    size_t count = text.size;

    while ((form & BASE64_PADDED) != 0 && count > 0 && text.size - count < 2 &&
           text.data[count - 1] == '=') {
        count--;
    }
    return count;
}

bool base64_read(struct slice text, unsigned form, uint8_t *bytes, size_t *ret_size)
{
    size_t digits = count_digits(text, form);
    uint32_t bits = 0;
    unsigned bit_count = 0;
    size_t size = 0;

    if (digits % 4 == 1 || (digits != text.size && text.size % 4 != 0)) {
        return false;
    }
    for (size_t at = 0; at < digits; at++) {
        int value = digit_value(text.data[at], form);

        if (value < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)value;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            bytes[size++] = (uint8_t)(bits >> bit_count);
        }
    }
    if ((form & BASE64_EXACT) != 0 && (bits & ((1U << bit_count) - 1)) != 0) {
        return false;
    }
    *ret_size = size;
    return true;
}
