/*
 * plot_test.c: the printed form of plots and bars.
 */
#include "store/base/buffer.h"
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/plot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define DAYS_MAX 366

/* Values of days in a row; below 0 there is no data. */
struct days {
    const double *values;
    size_t count;
};

static void fill(struct arena *arena, const struct days *days, struct plot_point *points,
                 struct slice *labels)
{
    for (size_t i = 0; i < days->count; i++) {
        points[i] = (struct plot_point){days->values[i], days->values[i] < 0 ? 0 : 1};
        labels[i] = arena_printf(arena, "2026-%02zu-%02zu", 1 + i / 31, 1 + i % 31);
    }
}

static void assert_plot(struct printer printer, enum plot_kind kind, const struct days *days,
                        const char *expected)
{
    struct plot_point points[DAYS_MAX];
    struct slice labels[DAYS_MAX];
    const struct plot plot = {kind, points, labels, days->count, "days"};
    char *text = NULL;
    size_t size = 0;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    fill(&arena, days, points, labels);
    printer.stream = open_memstream(&text, &size);
    plot_print(&printer, &arena, &plot);
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, expected);
    free(text);
    arena_deinit(&arena);
}

static const struct printer utf8 = {.terminal = true, .width = 60};
static const struct printer ascii = {
    .terminal = true, .width = 60, .ascii = true, .drawn_ascii = true};

/* Goal: amounts are drawn from 0, the smallest is visible, and days without any are blank. Method:
 * one week, in blocks and in ASCII. */
static void test_amounts_start_at_zero_and_the_least_is_visible(void **state)
{
    static const double values[] = {0, 1, 5, 10, 40, 80, 0};
    static const struct days week = {values, 7};

    (void)state;
    assert_plot(utf8, PLOT_COLUMNS, &week,
                "80 ┤                    ███\n"
                "   │                    ███\n"
                "40 ┤                ███ ███\n"
                "   │    ▁▁▁ ▂▂▂ ▄▄▄ ███ ███\n"
                " 0 └───────────────────────────\n"
                "    2026-01-01       2026-01-07\n");
    assert_plot(ascii, PLOT_COLUMNS, &week,
                "80 +                    ###\n"
                "   |                    ###\n"
                "40 +                ### ###\n"
                "   |    ... ... ::: ### ###\n"
                " 0 +---------------------------\n"
                "    2026-01-01       2026-01-07\n");
}

/* Goal: shares are drawn on the part of the axis that they need; days without data are gaps.
 * Method: a trend with a gap, and a single value. */
static void test_share_axis_covers_the_needed_range(void **state)
{
    static const double values[] = {0.71, 0.75, -1, 0.8, 0.85, 0.89};
    static const double one[] = {1};
    static const struct days trend = {values, 6};
    static const struct days single = {one, 1};

    (void)state;
    assert_plot(utf8, PLOT_MARKS, &trend,
                "0.90 ┤                    ⠒⠒⠒\n"
                "     │                ⠒⠒⠒\n"
                "0.80 ┤            ⠒⠒⠒\n"
                "     │    ⠤⠤⠤\n"
                "0.70 ┤⠤⠤⠤\n"
                "     └───────────────────────\n"
                "      2026-01-01   2026-01-06\n");
    assert_plot(ascii, PLOT_MARKS, &trend,
                "0.90 +                    ---\n"
                "     |                ---\n"
                "0.80 +            ---\n"
                "     |    ---\n"
                "0.70 +---\n"
                "     +-----------------------\n"
                "      2026-01-01   2026-01-06\n");
    assert_plot(utf8, PLOT_MARKS, &single,
                "1.00 ┤⠉⠉⠉\n"
                "     │\n"
                "0.95 ┤\n"
                "     │\n"
                "0.90 ┤\n"
                "     └───\n"
                "      2026-01-01\n");
}

/* Goal: more days than columns share them, by their mean; the last column may have fewer days.
 * Method: a year in 60 columns, all days equal except for the gaps. */
static void test_days_beyond_the_columns_share_one(void **state)
{
    double values[DAYS_MAX];
    const struct days year = {values, DAYS_MAX};

    (void)state;
    for (size_t i = 0; i < DAYS_MAX; i++) {
        values[i] = i / 100 == 1 ? 0 : 7;
    }
    assert_plot(utf8, PLOT_COLUMNS, &year,
                "8 ┤▄▄▄▄▄▄▄▄▄▄▄▄             ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄\n"
                "  │████████████             █████████████████████\n"
                "4 ┤████████████▆            █████████████████████\n"
                "  │█████████████            █████████████████████\n"
                "0 └──────────────────────────────────────────────\n"
                "   2026-01-01                          2026-12-25\n"
                "   (column = mean of 8 days)\n");
}

/* Goal: a plot without data draws nothing. */
static void test_plot_without_data_is_empty(void **state)
{
    static const double none[] = {-1, -1};
    static const struct days days = {none, 2};
    static const struct days no_days = {none, 0};

    (void)state;
    assert_plot(utf8, PLOT_MARKS, &days, "");
    assert_plot(utf8, PLOT_COLUMNS, &no_days, "");
}

/* Goal: no plot is wider than its terminal or than the maximum width; a pipe gets the default
 * width. Method: each number of days on terminals of many widths; the lines are measured. */
static void test_plot_is_within_its_width(void **state)
{
    static const unsigned tried[] = {0, 40, 60, 79, 80, 120, 200};
    double values[DAYS_MAX];

    (void)state;
    for (size_t i = 0; i < DAYS_MAX; i++) {
        values[i] = (double)(i % 7) * 123456;
    }
    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        for (size_t count = 1; count <= DAYS_MAX; count += 13) {
            const struct days days = {values, count};
            struct printer printer = {.terminal = tried[i] > 0, .width = tried[i]};
            struct plot_point points[DAYS_MAX];
            struct slice labels[DAYS_MAX];
            const struct plot plot = {PLOT_COLUMNS, points, labels, count, "days"};
            unsigned most = tried[i] == 0 ? PRINTER_WIDTH_DEFAULT : tried[i];
            char *text = NULL;
            size_t size = 0;
            struct arena arena;

            arena_init(&arena, 1 << 20);
            fill(&arena, &days, points, labels);
            printer.stream = open_memstream(&text, &size);
            plot_print(&printer, &arena, &plot);
            assert_int_equal(fclose(printer.stream), 0);
            for (char *line = text; *line != '\0';) {
                size_t bytes = strcspn(line, "\n");

                assert_true(print_width(slice_of(line, bytes)) <= most);
                assert_true(print_width(slice_of(line, bytes)) <= PLOT_WIDTH_MAX);
                line += bytes + 1;
            }
            free(text);
            arena_deinit(&arena);
        }
    }
}

static void assert_bar(bool drawn_ascii, double share, const char *expected)
{
    const struct printer printer = {.drawn_ascii = drawn_ascii};
    struct arena arena;
    struct slice bar = {NULL, 0};

    arena_init(&arena, 1 << 16);
    bar = plot_bar(&printer, &arena, share, 4);
    assert_true(slice_equal(bar, slice_text(expected)));
    arena_deinit(&arena);
}

/* Goal: a bar's length is its share, to an eighth of a column; a share above 0 is visible. */
static void test_bar_length_is_its_share(void **state)
{
    (void)state;
    assert_bar(false, 1, "████");
    assert_bar(false, 0.5, "██");
    assert_bar(false, 0.6, "██▍");
    assert_bar(false, 0.001, "▏");
    assert_bar(false, 0, "");
    assert_bar(false, 7, "████");
    assert_bar(true, 0.5, "##");
    assert_bar(true, 0.001, "#");
}

int run_plot_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amounts_start_at_zero_and_the_least_is_visible),
        cmocka_unit_test(test_share_axis_covers_the_needed_range),
        cmocka_unit_test(test_days_beyond_the_columns_share_one),
        cmocka_unit_test(test_plot_without_data_is_empty),
        cmocka_unit_test(test_plot_is_within_its_width),
        cmocka_unit_test(test_bar_length_is_its_share)};

    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
