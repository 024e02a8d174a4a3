/*
 * compare.h: comparisons for qsort and bsearch.
 */
#ifndef ERRATA_STORE_BASE_COMPARE_H
#define ERRATA_STORE_BASE_COMPARE_H

#include <stdint.h>

/* Compares two uint64_t, such as numbers of events, ascending. */
static inline int compare_uint64(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

#endif
