/*
 * judge_test.c: Goal: spans and wrong answers read as people expect them. Method: tables.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/judge.h"

static void test_spans(void **state)
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
    struct world *world = *state;

    for (size_t i = 0; i < COUNT(spans); i++) {
        struct slice text = judge_span(spans[i].span_ns, &world->arena);

        assert_true(slice_equal(text, slice_text(spans[i].text)));
    }
}

static void test_wrong(void **state)
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
    struct world *world = *state;

    for (size_t i = 0; i < COUNT(wrongs); i++) {
        const struct run_wrong wrong = {.wrong = wrongs[i].wrong, .code = wrongs[i].code};

        assert_true(slice_equal(judge_wrong(&wrong, &world->arena), slice_text(wrongs[i].text)));
    }
}

static void expect_message(struct world *world, const char *encoded, const char *text)
{
    struct run_wrong wrong = {.message_size = strlen(encoded)};

    memcpy(wrong.message, encoded, wrong.message_size);
    assert_true(slice_equal(judge_message(&wrong, &world->arena), slice_text(text)));
}

static void test_messages(void **state)
{
    struct world *world = *state;

    expect_message(world, "", "");
    expect_message(world, "plain text", "plain text");
    expect_message(world, "100%25 %C3%a4", "100% \xc3\xa4");
    expect_message(world, "cut %4", "cut %4");
    expect_message(world, "no %zz hex", "no %zz hex");
}

int run_judge_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_spans, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(test_wrong, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(test_messages, world_set_up, world_tear_down)};

    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
