/*
 * histogram.h: counts of values by fixed bounds: recording a value compares it with each bound up
 * to its own, and allocates nothing. Not thread-safe.
 */
#ifndef ERRATA_STORE_BASE_HISTOGRAM_H
#define ERRATA_STORE_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BOUNDS_MAX 16

struct histogram_bounds {
    uint32_t count;
    uint32_t values[HISTOGRAM_BOUNDS_MAX]; /* ascending; each belongs to the range below it */
};

struct histogram {
    uint64_t counts[HISTOGRAM_BOUNDS_MAX + 1]; /* by range; the last one in use has no bound */
    uint64_t sum;
};

/* Durations in microseconds: 25 us to 30 s. A lookup takes tens of microseconds, a document seconds. */
extern const struct histogram_bounds histogram_durations_us;
/* Requests of a commit: 1 to 256, as many as a batch may have, doubling. */
extern const struct histogram_bounds histogram_sizes;

static inline void histogram_add(struct histogram *histogram, const struct histogram_bounds *bounds,
                                 uint64_t value)
{
    uint32_t at = 0;

    while (at < bounds->count && value > bounds->values[at]) {
        at++;
    }
    histogram->counts[at]++;
    histogram->sum += value;
}

#endif
