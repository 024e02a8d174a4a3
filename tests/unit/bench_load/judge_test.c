/*
 * judge_test.c: Goal: spans and wrong replies are printed in a readable form, and a late generator
 * is judged by the right limit. Method: tables.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/judge.h"

static void test_span_text_has_three_digits(void **state)
{
    static const struct {
        uint64_t span_ns;
        const char *text;
    } spans[] = {{0, "0.00 us"},
                 {1234, "1.23 us"},
                 {12345, "12.3 us"},
                 {99960, "100 us"},
                 {123456, "123 us"},
                 {999600, "1.00 ms"},
                 {1234567, "1.23 ms"},
                 {12345678, "12.3 ms"},
                 {123456789, "123 ms"},
                 {999600000, "1.00 s"},
                 {UINT64_C(12345678900), "12.3 s"}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(spans); i++) {
        struct slice text = judge_span(spans[i].span_ns, &fixture->arena);

        assert_true(slice_equal(text, slice_text(spans[i].text)));
    }
}

static void test_problem_text_names_the_wrong_answer(void **state)
{
    static const struct {
        enum answer_wrong wrong;
        uint64_t code;
        const char *text;
    } wrongs[] = {{ANSWER_STATUS, 14, "UNAVAILABLE"},
                  {ANSWER_STATUS, 77, "grpc-status 77"},
                  {ANSWER_NO_STATUS, 0, "no grpc-status"},
                  {ANSWER_HTTP_STATUS, 404, "HTTP status 404"},
                  {ANSWER_FRAMING, 0, "not one whole message"},
                  {ANSWER_BYTES, 7, "7 bytes"},
                  {ANSWER_RESET, 8, "RST_STREAM 8"},
                  {ANSWER_LOST, 0, "no answer"}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(wrongs); i++) {
        const struct run_wrong wrong = {.wrong = wrongs[i].wrong, .code = wrongs[i].code};

        assert_true(slice_equal(judge_wrong(&wrong, &fixture->arena), slice_text(wrongs[i].text)));
    }
}

static void expect_message(struct fixture *fixture, const char *encoded, const char *text)
{
    struct run_wrong wrong = {.message_size = strlen(encoded)};

    memcpy(wrong.message, encoded, wrong.message_size);
    assert_true(slice_equal(judge_message(&wrong, &fixture->arena), slice_text(text)));
}

static void test_status_message_is_decoded(void **state)
{
    struct fixture *fixture = *state;

    expect_message(fixture, "", "");
    expect_message(fixture, "plain text", "plain text");
    expect_message(fixture, "100%25 %C3%a4", "100% \xc3\xa4");
    expect_message(fixture, "cut %4", "cut %4");
    expect_message(fixture, "no %zz hex", "no %zz hex");
}

/* Delay of one call in a hundred, in the following tests. */
#define LAG_NS UINT64_C(2000000)

/* Goal: by default a generator may be 1 ms late, and on a machine that others share half of the
 * time between two calls; the message has the limit and its reason. Method: a generator that is
 * always 2 ms late, at rates and with waits that give each limit. */
static void test_lag_limit_depends_on_shared_cores(void **state)
{
    static const struct {
        double rate;
        uint64_t waited_ns; /* part of 10 s */
        uint64_t lag_max_ns;
        bool valid;
        const char *says;
    } rows[] = {
        {200, 0, 0, false, "1.00 ms are allowed (--lag-max)"},
        {200, UINT64_C(90000000), 0, false, "1.00 ms are allowed (--lag-max)"},
        {200, UINT64_C(1200000000), 0, true,
         "2.50 ms are allowed (half of the 5.00 ms between two calls, since other programs kept it "
         "waiting for a core for 12% of the time; --lag-max sets another limit)"},
        {400, UINT64_C(1200000000), 0, false, "1.25 ms are allowed (half of the 2.50 ms between"},
        {10000, UINT64_C(1200000000), 0, false, "1.00 ms are allowed (--lag-max)"},
        {200, UINT64_C(1200000000), 1, false, "0.00 us are allowed (--lag-max)"},
        {200, 0, 3000000, true, "3.00 ms are allowed (--lag-max)"}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct engine_result result = {
            .client = {.known = true, .seconds = 10, .waited_ns = rows[i].waited_ns}};
        struct run_tally total = {.started = 1};
        struct judgement judgement;
        const struct judge_sentences *said = NULL;

        result.run.options.rate = rows[i].rate;
        result.run.options.call_limit = 1;
        result.run.measured_answered = 1;
        assert_int_equal(histogram_init(&result.run.lag, HISTOGRAM_FINE_BITS), OK);
        assert_int_equal(histogram_init(&total.latency, HISTOGRAM_FINE_BITS), OK);
        histogram_record(&result.run.lag, LAG_NS);
        histogram_record(&total.latency, LAG_NS);
        judge_run(&result, &total, rows[i].lag_max_ns, 0, &fixture->arena, &judgement);
        assert_int_equal(judgement.problems.count, rows[i].valid ? 0 : 1);
        said = rows[i].valid ? &judgement.notes : &judgement.problems;
        assert_int_equal(said->count, 1);
        assert_non_null(
            memmem(said->texts[0].data, said->texts[0].size, rows[i].says, strlen(rows[i].says)));
        histogram_deinit(&result.run.lag);
        histogram_deinit(&total.latency);
    }
}

int run_judge_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_span_text_has_three_digits, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_problem_text_names_the_wrong_answer, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_status_message_is_decoded, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_lag_limit_depends_on_shared_cores, fixture_set_up,
                                        fixture_tear_down)};

    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
