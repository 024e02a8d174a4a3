/*
 * histogram_test.c: histograms. Goal: each value belongs to the first range whose bound is not less
 * than it. Method: the edges of every bound, and random values counted again by comparison.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/histogram.h"

static uint64_t count_within(const struct histogram *histogram, uint32_t ranges)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < ranges; i++) {
        count += histogram->counts[i];
    }
    return count;
}

static void check_edges(const struct histogram_bounds *bounds)
{
    struct histogram histogram = {.sum = 0};
    uint64_t sum = 0;

    assert_in_range(bounds->count, 1, HISTOGRAM_BOUNDS_MAX);
    for (uint32_t i = 0; i < bounds->count; i++) {
        uint32_t bound = bounds->values[i];

        assert_true(i == 0 || bound > bounds->values[i - 1]);
        histogram_add(&histogram, bounds, bound);
        histogram_add(&histogram, bounds, (uint64_t)bound + 1);
        sum += 2 * (uint64_t)bound + 1;
        assert_int_equal(count_within(&histogram, i + 1), 2 * (uint64_t)i + 1);
    }
    histogram_add(&histogram, bounds, UINT64_C(1) << 40);
    assert_int_equal(histogram.counts[bounds->count], 2);
    assert_int_equal(histogram.sum, sum + (UINT64_C(1) << 40));
}

static void test_bounds_belong_to_the_range_below(void **state)
{
    (void)state;
    check_edges(&histogram_durations_us);
    check_edges(&histogram_sizes);
}

static void test_values_are_counted_once(void **state)
{
    struct histogram histogram = {.sum = 0};
    uint32_t value = 1;
    uint64_t below[HISTOGRAM_BOUNDS_MAX] = {0};

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        value = value * 1664525u + 1013904223u;
        histogram_add(&histogram, &histogram_durations_us, value >> (value % 24));
        for (uint32_t bound = 0; bound < histogram_durations_us.count; bound++) {
            below[bound] += value >> (value % 24) <= histogram_durations_us.values[bound] ? 1 : 0;
        }
    }
    for (uint32_t bound = 0; bound < histogram_durations_us.count; bound++) {
        assert_int_equal(count_within(&histogram, bound + 1), below[bound]);
    }
    assert_int_equal(count_within(&histogram, histogram_durations_us.count + 1), 10000);
}

int run_histogram_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_belong_to_the_range_below),
        cmocka_unit_test(test_values_are_counted_once),
    };

    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
