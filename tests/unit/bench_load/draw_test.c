/*
 * draw_test.c: Goal: drawn values have the requested distribution, and the same seed draws the
 * same. Method: many draws against the shares of the formula, and schedules by their means.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/draw.h"
#include "tools/bench/load/schedule.h"

#include <math.h>

#define DRAWS 400000

/* Shares of the first ranks within five standard deviations of 1 / k^skew over their sum. */
static void expect_zipf(uint64_t count, double skew)
{
    struct draw draw = {42};
    struct draw_zipf zipf;
    uint64_t seen[8] = {0};
    double sum = 0;

    for (uint64_t k = 1; k <= count; k++) {
        sum += pow((double)k, -skew);
    }
    draw_zipf_init(&zipf, count, skew);
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t k = draw_zipf_next(&zipf, &draw);

        assert_in_range(k, 1, count);
        if (k <= COUNT(seen)) {
            seen[k - 1]++;
        }
    }
    for (uint64_t k = 1; k <= COUNT(seen) && k <= count; k++) {
        double share = pow((double)k, -skew) / sum;
        double spread = sqrt(share * (1 - share) * DRAWS);

        assert_true(fabs((double)seen[k - 1] - share * DRAWS) <= 5 * spread + 1);
    }
}

static void test_zipf_draws_have_their_shares(void **state)
{
    (void)state;
    expect_zipf(1000, 1);
    expect_zipf(1000, 0.5);
    expect_zipf(100000, 1.2);
    expect_zipf(5, 3);
    expect_zipf(1, 1);
}

static void test_uniform_draws_are_even(void **state)
{
    struct draw draw = {1};
    uint64_t seen[10] = {0};

    (void)state;
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t number = draw_below(&draw, COUNT(seen));
        double share = draw_share(&draw);

        assert_in_range(number, 0, COUNT(seen) - 1);
        assert_true(share > 0 && share <= 1);
        seen[number]++;
    }
    for (size_t i = 0; i < COUNT(seen); i++) {
        assert_in_range(seen[i], DRAWS / 10 - 1000, DRAWS / 10 + 1000);
    }
}

/* Fixed spacing does not drift: after an hour of a rate that has no even interval, the call is due at
 * its exact time. */
static void test_fixed_schedule_does_not_drift(void **state)
{
    struct schedule schedule;

    (void)state;
    schedule_init(&schedule, 3, false, 1, 1000);
    assert_int_equal(schedule_next_ns(&schedule), 1000);
    for (size_t i = 0; i < 3 * 3600; i++) {
        schedule_take(&schedule);
    }
    assert_in_range(schedule_next_ns(&schedule), UINT64_C(3600000000999), UINT64_C(3600000001001));
}

/* Poisson: the mean and the spread of the gaps are both the interval. */
static void test_poisson_gaps_have_the_mean_of_the_interval(void **state)
{
    struct schedule schedule;
    struct schedule again;
    double last = 0;
    double squares = 0;
    size_t count = 100000;

    (void)state;
    schedule_init(&schedule, 1000, true, 5, 0);
    schedule_init(&again, 1000, true, 5, 0);
    for (size_t i = 0; i < count; i++) {
        double gap = 0;

        schedule_take(&schedule);
        schedule_take(&again);
        assert_int_equal(schedule_next_ns(&schedule), schedule_next_ns(&again));
        gap = (double)schedule_next_ns(&schedule) / 1e6 - last;
        last += gap;
        squares += gap * gap;
    }
    assert_true(fabs(last / (double)count - 1) < 0.02);
    assert_true(fabs(squares / (double)count - 2) < 0.1); /* variance 1 and mean 1 */
}

int run_draw_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zipf_draws_have_their_shares),
        cmocka_unit_test(test_uniform_draws_are_even),
        cmocka_unit_test(test_fixed_schedule_does_not_drift),
        cmocka_unit_test(test_poisson_gaps_have_the_mean_of_the_interval)};

    return cmocka_run_group_tests_name("draw", tests, NULL, NULL);
}
