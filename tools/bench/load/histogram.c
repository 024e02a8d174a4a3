/*
 * histogram.c: see histogram.h.
 */
#include "tools/bench/load/histogram.h"

#include "store/base/assert.h"

#include <math.h>
#include <stdlib.h>

static size_t bucket_of(unsigned bits, uint64_t value)
{
    unsigned above = 0; /* number of powers of two above the exact values */

    if (value >> bits != 0) {
        above = 64 - (unsigned)__builtin_clzll(value) - bits;
    }
    return ((size_t)above << (bits - 1)) + (size_t)(value >> above);
}

/* Inverse of bucket_of: returns the least value of a bucket, and the number of its values. */
static uint64_t bucket_start(unsigned bits, size_t bucket, uint64_t *ret_width)
{
    size_t half = (size_t)1 << (bits - 1);
    unsigned above = 0;

    /* Each power of two above the exact values has half as many buckets as there are of those. */
    while (bucket >= 2 * half && above < HISTOGRAM_VALUE_BITS) {
        bucket -= half;
        above++;
    }
    *ret_width = UINT64_C(1) << above;
    return (uint64_t)bucket << above;
}

enum err histogram_init(struct histogram *histogram, unsigned bits)
{
    uint64_t greatest = (UINT64_C(1) << HISTOGRAM_VALUE_BITS) - 1;

    *histogram = (struct histogram){
        .bits = bits, .bucket_count = bucket_of(bits, greatest) + 1, .min_ns = UINT64_MAX};
    histogram->counts = calloc(histogram->bucket_count, sizeof(*histogram->counts));
    return histogram->counts != NULL ? OK : ERR_MEMORY;
}

void histogram_deinit(struct histogram *histogram)
{
    free(histogram->counts);
    *histogram = (struct histogram){0};
}

void histogram_record(struct histogram *histogram, uint64_t value_ns)
{
    size_t bucket = bucket_of(histogram->bits, value_ns);

    bucket = bucket < histogram->bucket_count ? bucket : histogram->bucket_count - 1;
    histogram->counts[bucket]++;
    histogram->total_count++;
    histogram->sum_ns += value_ns;
    if (value_ns < histogram->min_ns) {
        histogram->min_ns = value_ns;
    }
    if (value_ns > histogram->max_ns) {
        histogram->max_ns = value_ns;
    }
}

static void add_sums(struct histogram *histogram, const struct histogram *from)
{
    histogram->total_count += from->total_count;
    histogram->sum_ns += from->sum_ns;
    if (from->min_ns < histogram->min_ns) {
        histogram->min_ns = from->min_ns;
    }
    if (from->max_ns > histogram->max_ns) {
        histogram->max_ns = from->max_ns;
    }
}

void histogram_merge(struct histogram *histogram, const struct histogram *from)
{
    ASSERT(histogram->bits == from->bits);
    for (size_t i = 0; i < histogram->bucket_count; i++) {
        histogram->counts[i] += from->counts[i];
    }
    add_sums(histogram, from);
}

void histogram_coarsen(struct histogram *histogram, const struct histogram *from)
{
    struct histogram_bucket bucket;
    size_t at = 0;

    ASSERT(histogram->bits <= from->bits);
    while (histogram_next(from, &at, &bucket)) {
        histogram->counts[bucket_of(histogram->bits, bucket.from_ns)] += bucket.count;
    }
    add_sums(histogram, from);
}

uint64_t histogram_percentile(const struct histogram *histogram, double share)
{
    uint64_t wanted = (uint64_t)ceil(share * (double)histogram->total_count);
    uint64_t seen = 0;

    wanted = wanted == 0 ? 1 : wanted;
    for (size_t i = 0; i < histogram->bucket_count; i++) {
        seen += histogram->counts[i];
        if (seen >= wanted) {
            uint64_t width = 0;
            uint64_t last = bucket_start(histogram->bits, i, &width) + width - 1;

            return last < histogram->max_ns ? last : histogram->max_ns;
        }
    }
    return histogram->max_ns;
}

double histogram_mean_ns(const struct histogram *histogram)
{
    return histogram->total_count == 0 ? 0
                                       : (double)histogram->sum_ns / (double)histogram->total_count;
}

bool histogram_next(const struct histogram *histogram, size_t *at,
                    struct histogram_bucket *ret_bucket)
{
    for (; *at < histogram->bucket_count; (*at)++) {
        uint64_t width = 0;
        uint64_t start = 0;

        if (histogram->counts[*at] == 0) {
            continue;
        }
        start = bucket_start(histogram->bits, *at, &width);
        *ret_bucket = (struct histogram_bucket){start, start + width - 1, histogram->counts[*at]};
        (*at)++;
        return true;
    }
    return false;
}
