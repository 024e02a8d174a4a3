/*
 * parse_test.c: values of options. Goal: the usual notations of counts, durations, ranges and
 * sweeps are read, and all other texts are refused. Method: tables of texts.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/grpc_status.h"
#include "tools/bench/load/parse.h"

static void test_count_with_suffix_is_parsed(void **state)
{
    static const struct {
        const char *text;
        uint64_t count;
    } good[] = {{"0", 0}, {"5000", 5000}, {"50k", 50000}, {"10M", 10000000}, {"1.5k", 1500}};
    static const char *const bad[] = {"",     "-1",  "+1", "1e3", "k",   "5kk",
                                      "0x10", "1.5", "1 ", " 1",  "inf", "99999999999999999999"};
    uint64_t count = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(parse_count(good[i].text, &count));
        assert_int_equal(count, good[i].count);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(parse_count(bad[i], &count));
    }
}

static void test_span_with_unit_is_parsed(void **state)
{
    static const struct {
        const char *text;
        uint64_t span_ns;
    } good[] = {{"10", UINT64_C(10000000000)},  {"500ms", 500000000}, {"300us", 300000},
                {"2m", UINT64_C(120000000000)}, {"0.5s", 500000000},  {"0", 0},
                {"1h", UINT64_C(3600000000000)}};
    static const char *const bad[] = {"", "s", "5 s", "5S", "ms", "-1s", "999h", "1e3s", "1..2"};
    uint64_t span_ns = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(parse_span(good[i].text, &span_ns));
        assert_int_equal(span_ns, good[i].span_ns);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(parse_span(bad[i], &span_ns));
    }
}

static void test_range_is_parsed_in_order(void **state)
{
    static const char *const bad[] = {"",       "5..4", "..4",     "4..",
                                      "1.5..2", "1-2",  "1..2..3", "1..2 "};
    uint64_t from = 0;
    uint64_t to = 0;

    (void)state;
    assert_true(parse_range("900..1100", &from, &to));
    assert_int_equal(from, 900);
    assert_int_equal(to, 1100);
    assert_true(parse_range("7", &from, &to));
    assert_int_equal(from, 7);
    assert_int_equal(to, 7);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(parse_range(bad[i], &from, &to));
    }
}

static void test_sweep_is_parsed_with_its_step(void **state)
{
    static const char *const bad[] = {"",          "500",     "500..100", "0..10",  "1..10x1",
                                      "1..10x0.5", "1..10+0", "1..10*2",  "1..10x", "1..10x2y"};
    struct sweep_range range;

    (void)state;
    assert_true(parse_sweep("500..20000", &range));
    assert_int_equal(range.step, SWEEP_TIMES);
    assert_float_equal(range.by, 1.5, 1e-9);
    assert_true(parse_sweep("500..20000x1.2", &range));
    assert_float_equal(range.from, 500, 1e-9);
    assert_float_equal(range.to, 20000, 1e-9);
    assert_float_equal(range.by, 1.2, 1e-9);
    assert_true(parse_sweep("1000..5000+500", &range));
    assert_int_equal(range.step, SWEEP_PLUS);
    assert_float_equal(range.by, 500, 1e-9);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(parse_sweep(bad[i], &range));
    }
}

static void test_status_is_found_by_name_or_number(void **state)
{
    uint32_t code = 99;

    (void)state;
    assert_true(grpc_status_find("NOT_FOUND", &code));
    assert_int_equal(code, 5);
    assert_true(grpc_status_find("16", &code));
    assert_string_equal(grpc_status_name(code), "UNAUTHENTICATED");
    assert_false(grpc_status_find("NOT_HERE", &code));
    assert_false(grpc_status_find("1000", &code));
    assert_null(grpc_status_name(GRPC_STATUS_COUNT));
}

int run_parse_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_count_with_suffix_is_parsed),
                                       cmocka_unit_test(test_span_with_unit_is_parsed),
                                       cmocka_unit_test(test_range_is_parsed_in_order),
                                       cmocka_unit_test(test_sweep_is_parsed_with_its_step),
                                       cmocka_unit_test(test_status_is_found_by_name_or_number)};

    return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
