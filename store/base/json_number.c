/*
 * json_number.c: decimal numbers of any size, and integers among them. Exact: no floating point is
 * used.
 */
#include "store/base/json_internal.h"

/* 18446744073709551615 */
#define INTEGER_DIGITS_MAX 20

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* Reads the exponent after `e`: at most 17 digits, so that sums do not overflow. */
static int64_t read_exponent(struct slice text, bool *ret_is_huge)
{
    bool is_negative = text.size > 0 && text.data[0] == '-';
    int64_t value = 0;
    size_t at = text.size > 0 && !is_digit(text.data[0]);

    *ret_is_huge = false;
    for (; at < text.size; at++) {
        if (value > INT64_C(10000000000000000)) {
            *ret_is_huge = true;
            break;
        }
        value = value * 10 + (text.data[at] - '0');
    }
    return is_negative ? -value : value;
}

struct json_decimal json_decimal_of(struct slice number)
{
    struct json_decimal decimal = {.is_negative = number.data[0] == '-'};
    struct slice digits = slice_after(number, decimal.is_negative);
    size_t point = SIZE_MAX;
    size_t end = 0;
    size_t start = 0;

    while (end < digits.size && (is_digit(digits.data[end]) || digits.data[end] == '.')) {
        if (digits.data[end] == '.') {
            point = end;
        }
        end++;
    }
    if (end < digits.size) {
        decimal.exponent = read_exponent(slice_after(digits, end + 1), &decimal.is_huge);
    }
    if (point == SIZE_MAX) {
        point = end;
    }
    while (start < end && (digits.data[start] == '0' || digits.data[start] == '.')) {
        start++;
    }
    while (end > start && (digits.data[end - 1] == '0' || digits.data[end - 1] == '.')) {
        end--;
    }
    decimal.digits = slice_of(digits.data + start, end - start);
    /* The last remaining digit is before or after the point. */
    decimal.exponent += (int64_t)point - (int64_t)end + (end > point);
    return decimal;
}

bool json_integer(struct slice number, bool *ret_is_negative, uint64_t *ret_magnitude)
{
    struct json_decimal decimal;
    uint64_t magnitude = 0;

    if (!is_digit(number.data[number.size - 1])) {
        return false; /* NaN or infinite */
    }
    decimal = json_decimal_of(number);
    if (decimal.digits.size == 0) {
        *ret_is_negative = false;
        *ret_magnitude = 0;
        return true;
    }
    if (decimal.is_huge || decimal.exponent < 0 || decimal.exponent >= INTEGER_DIGITS_MAX) {
        return false;
    }
    for (size_t i = 0; i < decimal.digits.size; i++) {
        uint8_t digit = decimal.digits.data[i];

        if (digit != '.' && (__builtin_mul_overflow(magnitude, 10, &magnitude) ||
                             __builtin_add_overflow(magnitude, digit - '0', &magnitude))) {
            return false;
        }
    }
    for (int64_t i = 0; i < decimal.exponent; i++) {
        if (__builtin_mul_overflow(magnitude, 10, &magnitude)) {
            return false;
        }
    }
    *ret_is_negative = decimal.is_negative;
    *ret_magnitude = magnitude;
    return true;
}
