/*
 * histogram_test.c: Goal: percentiles of a histogram are those of the values, to three digits, from
 * nanoseconds to an hour, and of two histograms added those of all values. Method: values of several
 * distributions, sorted beside it.
 */
#include "store/base/compare.h"
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/draw.h"
#include "tools/bench/load/histogram.h"

#include <math.h>
#include <stdlib.h>

#define VALUES 20000
static const double shares[] = {0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};

/* The definition: the least value that at least `share` of all values do not exceed. */
static uint64_t exact_percentile(const uint64_t *sorted, size_t count, double share)
{
    size_t wanted = (size_t)ceil(share * (double)count);

    return sorted[wanted == 0 ? 0 : wanted - 1];
}

static void expect_percentiles(const struct histogram *histogram, uint64_t *values, size_t count,
                               unsigned bits)
{
    qsort(values, count, sizeof(*values), compare_uint64);
    for (size_t i = 0; i < COUNT(shares); i++) {
        uint64_t exact = exact_percentile(values, count, shares[i]);
        uint64_t reported = histogram_percentile(histogram, shares[i]);

        assert_true(reported >= exact);
        assert_true(reported - exact <= exact >> (bits - 1));
    }
    assert_int_equal(histogram->max_ns, values[count - 1]);
    assert_int_equal(histogram->min_ns, values[0]);
    assert_int_equal(histogram->total_count, count);
}

/* Durations from 1 us to some seconds, distributed like latencies: most near the low end. */
static uint64_t draw_value(struct draw *draw, unsigned shape)
{
    double share = draw_share(draw);

    if (shape == 0) {
        return draw_below(draw, 5000); /* exact and nearly exact values */
    }
    if (shape == 1) {
        return (uint64_t)(20000 - 30000 * log(share));
    }
    return (uint64_t)(1000 * pow(share, -1.2));
}

static void test_percentiles_are_close_to_exact_ones(void **state)
{
    static const unsigned bits[] = {HISTOGRAM_FINE_BITS, HISTOGRAM_COARSE_BITS};
    uint64_t *values = calloc(VALUES, sizeof(*values));

    (void)state;
    assert_non_null(values);
    for (unsigned shape = 0; shape < 3; shape++) {
        for (size_t b = 0; b < COUNT(bits); b++) {
            struct draw draw = {shape + 1};
            struct histogram histogram;
            double sum = 0;

            assert_int_equal(histogram_init(&histogram, bits[b]), OK);
            for (size_t i = 0; i < VALUES; i++) {
                values[i] = draw_value(&draw, shape);
                sum += (double)values[i];
                histogram_record(&histogram, values[i]);
            }
            assert_float_equal(histogram_mean_ns(&histogram), sum / VALUES, 0.01);
            expect_percentiles(&histogram, values, VALUES, bits[b]);
            histogram_deinit(&histogram);
        }
    }
    free(values);
}

static void test_added_histograms_equal_one_of_all_values(void **state)
{
    uint64_t *values = calloc(VALUES, sizeof(*values));
    struct histogram parts[3];
    struct histogram coarse;
    struct draw draw = {7};

    (void)state;
    assert_non_null(values);
    for (size_t i = 0; i < COUNT(parts); i++) {
        assert_int_equal(histogram_init(&parts[i], HISTOGRAM_FINE_BITS), OK);
    }
    assert_int_equal(histogram_init(&coarse, HISTOGRAM_COARSE_BITS), OK);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = draw_value(&draw, 2);
        histogram_record(&parts[1 + i % 2], values[i]);
    }
    histogram_merge(&parts[0], &parts[1]);
    histogram_merge(&parts[0], &parts[2]);
    expect_percentiles(&parts[0], values, VALUES, HISTOGRAM_FINE_BITS);
    histogram_coarsen(&coarse, &parts[0]);
    expect_percentiles(&coarse, values, VALUES, HISTOGRAM_COARSE_BITS);
    for (size_t i = 0; i < COUNT(parts); i++) {
        histogram_deinit(&parts[i]);
    }
    histogram_deinit(&coarse);
    free(values);
}

/* Every value is in the bucket reported for it, and buckets have no gaps. */
static void test_value_is_within_its_bucket(void **state)
{
    struct histogram histogram;
    struct histogram_bucket bucket;
    uint64_t later = 0;
    size_t at = 0;

    (void)state;
    assert_int_equal(histogram_init(&histogram, HISTOGRAM_FINE_BITS), OK);
    for (unsigned power = 0; power < HISTOGRAM_VALUE_BITS; power++) {
        uint64_t values[] = {(UINT64_C(1) << power) - 1, UINT64_C(1) << power,
                             (UINT64_C(1) << power) + 1};

        for (size_t i = 0; i < COUNT(values); i++) {
            struct histogram single;
            size_t from = 0;

            assert_int_equal(histogram_init(&single, HISTOGRAM_FINE_BITS), OK);
            histogram_record(&single, values[i]);
            assert_true(histogram_next(&single, &from, &bucket));
            assert_true(bucket.from_ns <= values[i] && values[i] <= bucket.to_ns);
            assert_int_equal(bucket.count, 1);
            assert_false(histogram_next(&single, &from, &bucket));
            assert_int_equal(histogram_percentile(&single, 0.5), values[i]);
            histogram_deinit(&single);
        }
    }
    for (size_t i = 0; i < histogram.bucket_count; i++) {
        histogram.counts[i] = 1;
    }
    while (histogram_next(&histogram, &at, &bucket)) {
        assert_int_equal(bucket.from_ns, later);
        later = bucket.to_ns + 1;
    }
    assert_int_equal(later, UINT64_C(1) << HISTOGRAM_VALUE_BITS);
    histogram_deinit(&histogram);
}

static void test_empty_and_huge_values_are_counted(void **state)
{
    struct histogram histogram;

    (void)state;
    assert_int_equal(histogram_init(&histogram, HISTOGRAM_FINE_BITS), OK);
    assert_int_equal(histogram_percentile(&histogram, 0.99), 0);
    assert_float_equal(histogram_mean_ns(&histogram), 0, 0);
    histogram_record(&histogram, UINT64_MAX / 4);
    assert_int_equal(histogram.max_ns, UINT64_MAX / 4);
    assert_int_equal(histogram.total_count, 1);
    histogram_deinit(&histogram);
}

int run_histogram_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_are_close_to_exact_ones),
        cmocka_unit_test(test_added_histograms_equal_one_of_all_values),
        cmocka_unit_test(test_value_is_within_its_bucket),
        cmocka_unit_test(test_empty_and_huge_values_are_counted)};

    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
