/*
 * progress_test.c: the progress line, durations and times relative to now, and wrapped sentences.
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/progress.h"
#include "tools/errata/terminal/times.h"
#include "tools/errata/terminal/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_progress(unsigned width, const struct progress_state *state, int64_t elapsed_us,
                            const char *expected)
{
    const struct printer printer = {.terminal = true, .ascii = true, .width = width};
    struct arena arena;
    struct slice line = {NULL, 0};

    arena_init(&arena, 1 << 16);
    line = progress_line(&printer, &arena, state, elapsed_us);
    assert_true(arena_copy(&arena, line, &line));
    assert_string_equal((const char *)line.data, expected);
    assert_true(print_width(line) < width);
    arena_deinit(&arena);
}

/* Goal: the line reports the progress and the remaining time, as far as the width allows. Method:
 * the same state for terminals of several widths, and states without some of the values. */
static void test_progress_line_fits_its_width(void **state)
{
    const struct progress_state half = {.unit = "files",
                                        .done = 36,
                                        .total = 72,
                                        .done_steps = 25,
                                        .total_steps = 100,
                                        .detail = SLICE("a/long/folder/invoice-36.pdf")};
    const struct progress_state open = {.unit = "rows", .done = 5000};
    const struct progress_state slow = {.unit = "files", .done = 3, .total = 10};
    const struct progress_state waits = {.unit = "files", .done = 3, .total = 10, .paused = true};

    (void)state;
    assert_progress(120, &half, 4000000,
                    "#######..................... 36 of 72 files, 9.0/s, 0:12 left  "
                    "a/long/folder/invoice-36.pdf");
    assert_progress(70, &half, 4000000,
                    "###......... 36 of 72 files, 9.0/s, 0:12 left  ~folder/invoice-36.pdf");
    assert_progress(60, &half, 4000000,
                    "##........ 36 of 72 files, 9.0/s, 0:12 left  ~nvoice-36.pdf");
    assert_progress(40, &half, 4000000, "36 of 72 files, 9.0/s, 0:12 left");
    assert_progress(20, &half, 4000000, "36 of 72 files, 9.~");
    assert_progress(80, &half, 500000,
                    "#####................ 36 of 72 files  "
                    "a/long/folder/invoice-36.pdf");
    assert_progress(80, &open, 2000000, "5,000 rows, 2,500/s");
    assert_progress(80, &slow, 60000000, "####........... 3 of 10 files, 3/min, 2:20 left");
    assert_progress(80, &waits, 60000000, "###.......... 3 of 10 files, waiting for the server");
}

/* Goal: a progress line appears only for long work, only on a terminal, at most ten times a second,
 * and is erased before any other output. Method: a clock that a test moves, and the stream's
 * content. */
static void test_progress_is_shown_only_on_a_terminal(void **state)
{
    static const struct progress_state one = {.unit = "files", .done = 1, .total = 2};
    struct clock_manual clock;
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {.stream = open_memstream(&text, &size),
                              .terminal = true,
                              .cursor = true,
                              .ascii = true,
                              .width = 40};
    struct progress progress;

    (void)state;
    clock_manual_init(&clock, 0);
    progress_start(&progress, &printer, &clock.clock);
    printer.progress = &progress;
    progress_show(&progress, &one);
    clock_manual_advance(&clock, PROGRESS_FIRST_US);
    progress_show(&progress, &one);
    progress_show(&progress, &one);
    print_text(&printer, "text\n");
    print_text(&printer, "again\n");
    clock_manual_advance(&clock, PROGRESS_STEP_US);
    printer.cursor = false;
    progress_show(&progress, &one);
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, "\r#####..... 1 of 2 files\x1b[K\r\x1b[Ktext\nagain\n");
    free(text);
}

static void assert_slice(struct slice text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

/* Goal: times are short, and never wider than their column. Method: each unit from the present to
 * another year, in the past and in the future. */
static void test_time_spans_fit_their_column(void **state)
{
    static const struct {
        int64_t ahead_seconds;
        const char *text;
    } cases[] = {{0, "just now"},         {-1, "1 s ago"},
                 {-59, "59 s ago"},       {-60, "1 min ago"},
                 {-3599, "59 min ago"},   {-3600, "1 h ago"},
                 {-86399, "23 h ago"},    {-86400, "1 d ago"},
                 {-8639999, "99 d ago"},  {-8640000, "2001-06-01"},
                 {5, "in 5 s"},           {3600, "in 1 h"},
                 {86400 * 90, "in 90 d"}, {86400 * 365, "2002-09-09"}};
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice text = times_distance(&arena, 1000000000, 1000000000 + cases[i].ahead_seconds);

        assert_slice(text, cases[i].text);
        assert_true(text.size <= 10);
    }
    assert_slice(times_ago(&arena, 1000000000, 1000000030), "just now");
    assert_slice(times_ago(&arena, 1000000000, 1000000090), "in 1 min");
    assert_slice(progress_span(&arena, 840000), "0.8 s");
    assert_slice(progress_span(&arena, 9949999), "9.9 s");
    assert_slice(progress_span(&arena, 9950000), "10 s");
    assert_slice(progress_span(&arena, 200000000), "3 min 20 s");
    assert_slice(progress_span(&arena, INT64_C(3900000000)), "1 h 5 min");
    arena_deinit(&arena);
}

/* Goal: sentences are wrapped at the width, without a break in words to type, and beside their
 * terms. Method: one entry and one text, with and without colours. */
static void test_sentences_are_wrapped_beside_their_terms(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {
        .stream = open_memstream(&text, &size), .terminal = true, .width = 40};
    struct wrap wrap = {.printer = &printer, .indent = 2, .width = 40};

    (void)state;
    wrap_entry(&printer, "--limit N", "at most so many rows; the default is 50", 2, 16);
    wrap_entry(&printer, "--a-long-option VALUE", "beside it", 2, 16);
    wrap_text(&wrap, "It is asked with `errata health --json`, often.\n\nEnd.");
    printer.colour = true;
    wrap_text(&wrap, "Say `that thing` now, if you would, at all.");
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, "  --limit N     at most so many rows;\n"
                              "                the default is 50\n"
                              "  --a-long-option VALUE\n"
                              "                beside it\n"
                              "  It is asked with\n"
                              "  `errata health --json`, often.\n"
                              "\n"
                              "  End.\n"
                              "  Say \x1b[1mthat thing\x1b[0m now, if you would, at\n"
                              "  all.\n");
    free(text);
}

int run_progress_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_line_fits_its_width),
        cmocka_unit_test(test_progress_is_shown_only_on_a_terminal),
        cmocka_unit_test(test_time_spans_fit_their_column),
        cmocka_unit_test(test_sentences_are_wrapped_beside_their_terms)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
