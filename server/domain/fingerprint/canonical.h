/*
 * canonical.h: writes JSON as Python's json.dumps(..., sort_keys=True) writes the result of
 * json.loads: separators with a space, members in the order of their names' code points, everything
 * outside printable ASCII escaped, integers unchanged, floats in the shortest form that reads back
 * the same.
 */
#ifndef ERRATA_SERVER_DOMAIN_FINGERPRINT_CANONICAL_H
#define ERRATA_SERVER_DOMAIN_FINGERPRINT_CANONICAL_H

#include "store/base/json.h"

/* A number as Python represents it. */
struct canonical_number {
    bool is_float;
    double value; /* value of a float */
};

/* Reads a number like Python's json module: as a float if it contains a decimal point or an
 * exponent, or is NaN or infinite. */
struct canonical_number canonical_read_number(struct slice text);
/* Appends a float; NaN, Infinity and -Infinity are written by name. */
void canonical_write_double(struct buffer *buffer, double value);
/* Appends a checked value. Fails only with ERR_MEMORY. */
MUST_CHECK enum err canonical_write(struct arena *arena, struct buffer *buffer,
                                    struct json_value value);

#endif
