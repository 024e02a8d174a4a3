/*
 * histogram.h: counts of durations in buckets of nanoseconds that grow with the value, like Gil
 * Tene's HdrHistogram. Below 2^bits each value has a bucket of its own; above, each power of two is
 * cut into 2^(bits-1) equal ones. So a value is known to one part in 2^(bits-1): with
 * HISTOGRAM_FINE_BITS to three significant digits from a microsecond on. Recording is a shift and an
 * addition; two histograms of the same bits add up to that of both.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_HISTOGRAM_H
#define ERRATA_TOOLS_BENCH_LOAD_HISTOGRAM_H

#include "store/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Three significant digits: 1 in 1024. 270 KB. */
#define HISTOGRAM_FINE_BITS 11
/* 3%: for one of many, such as a second of a run. 10 KB. */
#define HISTOGRAM_COARSE_BITS 6
/* Values are below 2^42 ns, 73 minutes; longer ones count as the maximum. */
#define HISTOGRAM_VALUE_BITS 42

struct histogram {
    unsigned bits;
    uint64_t *counts; /* owned */
    size_t bucket_count;
    uint64_t total_count;
    uint64_t sum_ns;
    uint64_t min_ns; /* exact, like max_ns; UINT64_MAX if nothing is recorded */
    uint64_t max_ns;
};

/* A bucket: values from `from_ns` to `to_ns`, both included. */
struct histogram_bucket {
    uint64_t from_ns;
    uint64_t to_ns;
    uint64_t count;
};

/* ERR_MEMORY. */
MUST_CHECK enum err histogram_init(struct histogram *histogram, unsigned bits);
/* Accepts a zeroed one. */
void histogram_deinit(struct histogram *histogram);
void histogram_record(struct histogram *histogram, uint64_t value_ns);
/* Adds the values of `from`, which has the same bits. */
void histogram_merge(struct histogram *histogram, const struct histogram *from);
/* Adds the values of `from`, which has more bits: each bucket as its least value. Sums and limits
 * stay exact. */
void histogram_coarsen(struct histogram *histogram, const struct histogram *from);
/* Returns the value that `share` (0 to 1) of all values do not exceed: the greatest one of its
 * bucket, but at most the maximum. 0 if nothing is recorded. */
uint64_t histogram_percentile(const struct histogram *histogram, double share);
double histogram_mean_ns(const struct histogram *histogram);
/* Iterates over the buckets with values, in ascending order; returns false at the end. Start with
 * *at 0. */
bool histogram_next(const struct histogram *histogram, size_t *at,
                    struct histogram_bucket *ret_bucket);

#endif
