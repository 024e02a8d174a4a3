/*
 * proportions_tests.c: two proportions compared: against a statistics library, against 80 digits, and
 * against themselves.
 */
#include "server/domain/analytics/proportions.h"

#include "store/base/random.h"
#include "tests/unit/analytics/analytics_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define GRID 14
#define RANDOM_CASES 3000

struct proportion_case {
    struct proportion treated;
    struct proportion control;
    double p_value;
    double low;
    double high;
    bool exact; /* computed with 80 digits; otherwise by a library */
};

static const struct proportion_case cases[] = {
#define EXACT(x1, n1, x0, n0, p_value, low, high) {{x1, n1}, {x0, n0}, p_value, low, high, true},
#define LIBRARY(x1, n1, x0, n0, p_value, low, high) {{x1, n1}, {x0, n0}, p_value, low, high, false},
#include "tests/unit/analytics/proportion_cases.def"
#undef EXACT
#undef LIBRARY
};

#define CASE_COUNT (sizeof(cases) / sizeof(cases[0]))

static void check_near(double value, double wanted, double slack)
{
    if (!(fabs(value - wanted) <= slack)) {
        fail_msg("%.17g, wanted %.17g", value, wanted);
    }
}

/* A ratio is exact to a double's precision; beyond that, one less 1 is right to 9 digits. The
 * library's search ends earlier. */
static void check_end(const struct proportion_case *c, double value, double wanted)
{
    check_near(value, wanted, c->exact ? 1e-9 * fabs(wanted) + 1e-15 : 1e-7 * (1 + fabs(wanted)));
}

/* Goal: p-values and intervals equal those of a statistics library, and are correct where it fails.
 * Method: the table of make_cases.py. */
static void test_p_values_equal_a_statistics_library(void **state)
{
    (void)state;
    assert_true(CASE_COUNT >= 60);
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const struct proportion_case *c = &cases[i];
        struct proportion_improvement improvement;
        double p_value = -1;

        assert_true(proportions_test(&c->treated, &c->control, &p_value));
        check_near(p_value, c->p_value, c->exact ? 1e-9 * c->p_value : 1e-12);
        assert_true(proportions_improvement(&c->treated, &c->control, &improvement));
        check_end(c, improvement.low, c->low);
        check_end(c, improvement.high, c->high);
    }
}

/* Checks properties of any two proportions. */
static void check_any(const struct proportion *treated, const struct proportion *control)
{
    struct proportion_improvement improvement;
    double p_value = -1;
    bool has_test = proportions_test(treated, control, &p_value);

    assert_int_equal(has_test, treated->trial_count > 0 && control->trial_count > 0);
    if (has_test) {
        assert_true(p_value >= 0 && p_value <= 1);
    }
    if (!proportions_improvement(treated, control, &improvement)) {
        assert_true(!has_test || control->success_count == 0);
        return;
    }
    assert_true(has_test);
    assert_true(isfinite(improvement.low) && isfinite(improvement.high));
    assert_true(improvement.low >= -1);
    assert_true(improvement.low <= improvement.relative + 1e-15);
    assert_true(improvement.relative <= improvement.high + 1e-15);
    assert_int_equal(p_value<PROPORTIONS_SIGNIFICANT, improvement.low> 0 || improvement.high < 0);
    assert_int_equal(improvement.target_reached, improvement.relative >= 0.15);
}

/* Goal: for all counts, nothing is NaN or infinite, the estimate is in its interval, and test and
 * interval agree. Method: all small counts, including no and only successes; then counts of every
 * size, some with few failures. */
static void test_estimate_is_in_its_interval(void **state)
{
    struct random_seeded random;

    (void)state;
    for (uint64_t n1 = 0; n1 <= GRID; n1++) {
        for (uint64_t n0 = 0; n0 <= GRID; n0++) {
            for (uint64_t i = 0; i < (n1 + 1) * (n0 + 1); i++) {
                const struct proportion treated = {i % (n1 + 1), n1};
                const struct proportion control = {i / (n1 + 1), n0};

                check_any(&treated, &control);
            }
        }
    }
    random_seeded_init(&random, 5);
    for (unsigned i = 0; i < RANDOM_CASES; i++) {
        uint64_t draws[6];
        struct proportion both[2];

        random_fill(&random.random, draws, sizeof(draws));
        for (unsigned side = 0; side < 2; side++) {
            uint64_t trials = (draws[side] >> (7 + draws[2 + side] % 56)) + 1;
            uint64_t part = draws[4 + side] % (trials + 1) >> (draws[2 + side] >> 32) % 40;

            both[side].trial_count = trials;
            both[side].success_count = i % 2 == 0 ? part : trials - part;
        }
        check_any(&both[0], &both[1]);
    }
}

/* Goal: equal arms of any size have an improvement of 0; swapping the arms keeps the p-value. */
static void test_swapped_arms_keep_the_p_value(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < UINT64_C(1) << 56; n = n * 7 + 1) {
        const struct proportion one = {n / 3 + 1, n};
        const struct proportion same = {one.success_count * 2, n * 2};
        const struct proportion other = {n - n / 5, n};
        struct proportion_improvement improvement;
        double there = 0;
        double back = 0;

        assert_true(proportions_improvement(&same, &one, &improvement));
        assert_true(improvement.relative == 0 && !improvement.target_reached);
        assert_true(improvement.low < 0 && improvement.high > 0);
        assert_true(proportions_test(&same, &one, &there));
        assert_true(there == 1);
        assert_true(proportions_test(&other, &one, &there));
        assert_true(proportions_test(&one, &other, &back));
        assert_true(fabs(there - back) <= 1e-12 * there);
    }
}

/* Goal: 15% is reached at 15%, not by rounding. Method: shares with exactly that ratio in decimals,
 * and one success less. */
static void test_target_is_met_exactly_at_15_percent(void **state)
{
    static const struct proportion pairs[][2] = {
        {{69, 100}, {60, 100}},
        {{92, 100}, {80, 100}},
        {{23, 50}, {2, 5}},
        {{575, 1000}, {1, 2}},
        {{UINT64_C(690000000000), UINT64_C(1000000000000)}, {3, 5}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct proportion less = pairs[i][0];
        struct proportion_improvement improvement;

        assert_true(proportions_improvement(&pairs[i][0], &pairs[i][1], &improvement));
        assert_true(improvement.target_reached && improvement.relative == 0.15);
        less.success_count--;
        assert_true(proportions_improvement(&less, &pairs[i][1], &improvement));
        assert_true(!improvement.target_reached && improvement.relative < 0.15);
    }
}

/* Goal: the interval of a difference is Newcombe's. Method: the examples of his paper (table II, method 10), which
 * has four digits. */
static void test_intervals_of_differences_equal_the_paper(void **state)
{
    static const struct {
        struct proportion first;
        struct proportion second;
        double low;
        double high;
    } examples[] = {
        {{56, 70}, {48, 80}, 0.0524, 0.3339}, {{9, 10}, {3, 10}, 0.1705, 0.8090},
        {{6, 7}, {2, 7}, 0.0582, 0.8062},     {{5, 56}, {0, 29}, -0.0381, 0.1926},
        {{0, 10}, {0, 20}, -0.1611, 0.2775},  {{0, 10}, {0, 10}, -0.2775, 0.2775},
        {{10, 10}, {0, 20}, 0.6791, 1},       {{10, 10}, {0, 10}, 0.6075, 1},
    };
    const struct proportion none = {0, 0};
    struct proportion_difference difference;

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        assert_true(proportions_subtract(&examples[i].first, &examples[i].second, &difference));
        assert_true(fabs(difference.low - examples[i].low) < 0.00006);
        assert_true(fabs(difference.high - examples[i].high) < 0.00006);
        assert_true(difference.low <= difference.estimate &&
                    difference.estimate <= difference.high);
    }
    assert_false(proportions_subtract(&none, &examples[0].first, &difference));
    assert_false(proportions_subtract(&examples[0].first, &none, &difference));
}

int run_proportions_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_p_values_equal_a_statistics_library),
        cmocka_unit_test(test_estimate_is_in_its_interval),
        cmocka_unit_test(test_swapped_arms_keep_the_p_value),
        cmocka_unit_test(test_target_is_met_exactly_at_15_percent),
        cmocka_unit_test(test_intervals_of_differences_equal_the_paper),
    };

    return cmocka_run_group_tests_name("proportions", tests, NULL, NULL);
}
