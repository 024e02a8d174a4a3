/*
 * parse.c: see parse.h.
 */
#include "tools/bench/load/parse.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_FACTOR_DEFAULT 1.5
#define DIGITS_MAX 30

struct unit {
    const char *name;
    double factor;
};

/* Reads the number at the start; `ret_rest` is the text after it. Only plain decimals are accepted, not
 * the other forms of strtod: no hex, no exponent, no inf. */
static bool take_number(const char *text, double *ret_number, const char **ret_rest)
{
    char digits[DIGITS_MAX + 1];
    char *end = NULL;
    double number = 0;
    size_t size = 0;

    /* In `1..2` the number ends before the two dots. */
    while (isdigit((unsigned char)text[size]) ||
           (text[size] == '.' && isdigit((unsigned char)text[size + 1]))) {
        size++;
    }
    if (size == 0 || size > DIGITS_MAX) {
        return false;
    }
    memcpy(digits, text, size);
    digits[size] = '\0';
    errno = 0;
    number = strtod(digits, &end);
    if (*end != '\0' || errno != 0 || !isfinite(number)) {
        return false;
    }
    *ret_number = number;
    *ret_rest = text + size;
    return true;
}

/* Finds the factor of a unit. Returns false for an unknown unit. */
static bool find_unit(const struct unit *units, const char *name, double *ret_factor)
{
    for (; units->name != NULL; units++) {
        if (strcmp(units->name, name) == 0) {
            *ret_factor = units->factor;
            return true;
        }
    }
    return false;
}

bool parse_number(const char *text, double *ret_number)
{
    const char *rest = NULL;
    double number = 0;

    if (!take_number(text, &number, &rest) || *rest != '\0') {
        return false;
    }
    *ret_number = number;
    return true;
}

bool parse_count(const char *text, uint64_t *ret_count)
{
    static const struct unit units[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {NULL, 0}};
    const char *rest = NULL;
    double number = 0;
    double factor = 0;

    if (!take_number(text, &number, &rest) || !find_unit(units, rest, &factor)) {
        return false;
    }
    number *= factor;
    /* Above 2^53 a double has no units left. */
    if (number > 9007199254740992.0 || number != floor(number)) {
        return false;
    }
    *ret_count = (uint64_t)number;
    return true;
}

bool parse_span(const char *text, uint64_t *ret_ns)
{
    static const struct unit units[] = {{"", 1e9},   {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
                                        {"m", 60e9}, {"h", 3.6e12}, {NULL, 0}};
    const char *rest = NULL;
    double number = 0;
    double factor = 0;

    if (!take_number(text, &number, &rest) || !find_unit(units, rest, &factor) ||
        number * factor > (double)PARSE_SPAN_NS_MAX) {
        return false;
    }
    *ret_ns = (uint64_t)(number * factor + 0.5);
    return true;
}

bool parse_range(const char *text, uint64_t *ret_from, uint64_t *ret_to)
{
    const char *rest = NULL;
    double from = 0;
    double to = 0;

    if (!take_number(text, &from, &rest)) {
        return false;
    }
    to = from;
    if (*rest != '\0' && (strncmp(rest, "..", 2) != 0 || !parse_number(rest + 2, &to))) {
        return false;
    }
    if (from > to || to > 9007199254740992.0 || from != floor(from) || to != floor(to)) {
        return false;
    }
    *ret_from = (uint64_t)from;
    *ret_to = (uint64_t)to;
    return true;
}

bool parse_sweep(const char *text, struct sweep_range *ret_range)
{
    struct sweep_range range = {.step = SWEEP_TIMES, .by = SWEEP_FACTOR_DEFAULT};
    const char *rest = NULL;

    if (!take_number(text, &range.from, &rest) || strncmp(rest, "..", 2) != 0 ||
        !take_number(rest + 2, &range.to, &rest)) {
        return false;
    }
    if (*rest != '\0') {
        range.step = *rest == '+' ? SWEEP_PLUS : SWEEP_TIMES;
        if ((*rest != '+' && *rest != 'x') || !parse_number(rest + 1, &range.by)) {
            return false;
        }
    }
    if (range.from <= 0 || range.to < range.from ||
        range.by <= (range.step == SWEEP_TIMES ? 1.0 : 0.0)) {
        return false;
    }
    *ret_range = range;
    return true;
}
