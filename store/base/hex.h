/*
 * hex.h: hex digits, one at a time: read in either case, written in lower case.
 */
#ifndef ERRATA_STORE_BASE_HEX_H
#define ERRATA_STORE_BASE_HEX_H

#include <stdint.h>

/* The value of a hex digit, or -1 for any other byte. */
static inline int hex_value(uint8_t digit)
{
    uint8_t lower = digit | 0x20;

    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The digit for the lowest four bits. */
static inline char hex_digit(uint32_t value)
{
    return "0123456789abcdef"[value & 15];
}

#endif
