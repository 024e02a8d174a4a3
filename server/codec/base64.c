/*
 * base64.c: six bits a digit.
 */
#include "server/codec/base64.h"

static const uint8_t alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(struct buffer *text, struct slice bytes)
{
    for (size_t at = 0; at < bytes.size; at += 3) {
        size_t count = bytes.size - at < 3 ? bytes.size - at : 3;
        uint32_t group = (uint32_t)bytes.data[at] << 16;
        uint8_t digits[4];

        if (count > 1) {
            group |= (uint32_t)bytes.data[at + 1] << 8;
        }
        if (count > 2) {
            group |= bytes.data[at + 2];
        }
        digits[0] = alphabet[group >> 18];
        digits[1] = alphabet[group >> 12 & 63];
        digits[2] = count > 1 ? alphabet[group >> 6 & 63] : '=';
        digits[3] = count > 2 ? alphabet[group & 63] : '=';
        buffer_append(text, slice_of(digits, 4));
    }
}

static int digit_value(uint8_t digit)
{
    if (digit >= 'A' && digit <= 'Z') {
        return digit - 'A';
    }
    if (digit >= 'a' && digit <= 'z') {
        return digit - 'a' + 26;
    }
    if (digit >= '0' && digit <= '9') {
        return digit - '0' + 52;
    }
    if (digit == '+' || digit == '-') {
        return 62;
    }
    return digit == '/' || digit == '_' ? 63 : -1;
}

bool base64_read(struct slice text, uint8_t *bytes, size_t *ret_size)
{
    uint32_t group = 0;
    size_t digits = text.size;
    size_t size = 0;

    while (digits > 0 && text.size - digits < 2 && text.data[digits - 1] == '=') {
        digits--;
    }
    if (digits % 4 == 1 || (digits != text.size && text.size % 4 != 0)) {
        return false;
    }
    for (size_t at = 0; at < digits; at++) {
        int value = digit_value(text.data[at]);

        if (value < 0) {
            return false;
        }
        group = group << 6 | (uint32_t)value;
        if (at % 4 != 0) {
            bytes[size++] = (uint8_t)(group >> (6 - at % 4 * 2));
        }
    }
    *ret_size = size;
    return true;
}
