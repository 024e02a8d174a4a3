/*
 * weights_tests.c: suggested weights, against values that were computed with the formula of weight.h in Python.
 */
#include "server/domain/weights/weight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LEARNED 50000000 /* 0.05, the adjustment of a rule learned from a false negative */

struct expected {
    int64_t first;
    uint64_t agreed;
    uint64_t disagreed;
    struct weight_suggestion suggestion;
};

static void test_weight_follows_the_firings(void **state)
{
    static const struct expected cases[] = {
        {LEARNED, 5, 0, {81806790, 15554490, 500000000}},
        {LEARNED, 10, 0, {102360760, 56457885, 500000000}},
        {40000000, 14, 6, {40000000, 0, 83584465}},
        {-30000000, 8, 2, {-38898208, -99561584, 0}},
        {LEARNED, 2, 3, {23926952, 0, 71062733}},
        {300000000, 1000, 0, {500000000, 500000000, 500000000}},
        {LEARNED, 7, 3, {50000000, 0, 124720217}},
        {-30000000, 30, 0, {-88952389, -500000000, -72772939}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct weight_suggestion suggestion;

        assert_true(
            weight_suggest(cases[i].first, cases[i].agreed, cases[i].disagreed, &suggestion));
        assert_int_equal(suggestion.weight, cases[i].suggestion.weight);
        assert_int_equal(suggestion.low, cases[i].suggestion.low);
        assert_int_equal(suggestion.high, cases[i].suggestion.high);
    }
}

static void test_four_firings_suggest_nothing(void **state)
{
    struct weight_suggestion suggestion;

    (void)state;
    assert_false(weight_suggest(LEARNED, 4, 0, &suggestion));
    assert_false(weight_suggest(LEARNED, 0, 4, &suggestion));
    assert_false(weight_suggest(LEARNED, 2, 2, &suggestion));
    assert_true(weight_suggest(LEARNED, 2, 3, &suggestion));
}

static void test_wrong_rule_loses_its_weight_but_never_its_sign(void **state)
{
    struct weight_suggestion suggestion;

    (void)state;
    for (uint64_t disagreed = 14; disagreed < 60; disagreed++) {
        assert_true(weight_suggest(-LEARNED, 10, disagreed, &suggestion));
        assert_true(suggestion.weight == 0);
        assert_true(suggestion.low <= suggestion.high && suggestion.high <= 0);
    }
}

static void test_rule_without_weight_gets_none(void **state)
{
    struct weight_suggestion suggestion;

    (void)state;
    assert_true(weight_suggest(0, 50, 0, &suggestion));
    assert_int_equal(suggestion.weight, 0);
    assert_int_equal(suggestion.low, 0);
    assert_int_equal(suggestion.high, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weight_follows_the_firings),
        cmocka_unit_test(test_four_firings_suggest_nothing),
        cmocka_unit_test(test_wrong_rule_loses_its_weight_but_never_its_sign),
        cmocka_unit_test(test_rule_without_weight_gets_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
