/*
 * table_test.c: the printed form of tables.
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct table_column columns[] = {
    {.title = "ID", .cut = TABLE_NEVER_CUT},
    {.title = "COUNT", .right = true, .cut = TABLE_NEVER_CUT},
    {.title = "TEXT"}};

static void assert_rows(const struct table_column *some, const struct slice (*rows)[3],
                        size_t count, unsigned width, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {
        .stream = open_memstream(&text, &size), .terminal = width > 0, .width = width};
    struct table table;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    table_init(&table, &arena, some, 3);
    for (size_t i = 0; i < count; i++) {
        assert_true(table_add(&table, rows[i]));
    }
    table_print(&table, &printer);
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, expected);
    free(text);
    arena_deinit(&arena);
}

static void assert_table(unsigned width, const char *expected)
{
    static const struct slice rows[][3] = {
        {SLICE("first"), SLICE("7"), SLICE("a text that is rather long for a narrow screen")},
        {SLICE("second-id"), SLICE("12345"), SLICE("two\nlines")}};

    assert_rows(columns, rows, 2, width, expected);
}

/* Goal: columns line up; cells that may be cut are cut to the terminal's width; scripts get whole
 * cells. Method: the same rows for a pipe, for 40 columns, and for a width that cannot be kept. */
static void test_columns_are_aligned_and_cut_to_the_width(void **state)
{
    (void)state;
    assert_table(0, "ID         COUNT  TEXT\n"
                    "first          7  a text that is rather long for a narrow screen\n"
                    "second-id  12345  two\\nlines\n");
    assert_table(40, "ID         COUNT  TEXT\n"
                     "first          7  a text that is rather…\n"
                     "second-id  12345  two\\nlines\n");
    assert_table(10, "ID         COUNT  TEXT\n"
                     "first          7  a text …\n"
                     "second-id  12345  two\\nli…\n");
}

/* Goal: paths are cut at the front, since their ends distinguish them. Method: two paths that
 * differ at their ends, on a terminal that is too narrow for them. */
static void test_paths_are_cut_at_their_front(void **state)
{
    static const struct table_column some[] = {
        {.title = "FILE", .cut = TABLE_CUT_FRONT},
        {.title = "N", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "NOTE", .cut = TABLE_NEVER_CUT}};
    static const struct slice rows[][3] = {
        {SLICE("a/long/folder/and/file-1.pdf"), SLICE("1"), SLICE("twenty columns wide.")},
        {SLICE("a/long/folder/and/file-2.pdf"), SLICE("2"), SLICE("")}};

    (void)state;
    assert_rows(some, rows, 2, 40,
                "FILE             N  NOTE\n"
                "\xe2\x80\xa6"
                "and/file-1.pdf  1  twenty columns wide.\n"
                "\xe2\x80\xa6"
                "and/file-2.pdf  2\n");
}

/* Goal: on a terminal an empty column is left out, and optional ones if a row is too wide, before any
 * other column is cut; a script sees every column. Method: one row in a column that is empty, one
 * that is optional and one that is required. */
static void test_empty_columns_are_left_out_on_a_terminal(void **state)
{
    static const struct table_column some[] = {
        {.title = "EMPTY"},
        {.title = "EXTRA", .cut = TABLE_NEVER_CUT, .extra = 1},
        {.title = "TEXT"}};
    const struct slice rows[][3] = {
        {SLICE(""), SLICE("twenty columns wide."), SLICE("kept as it is")}};

    (void)state;
    assert_rows(some, rows, 1, 0,
                "EMPTY  EXTRA                 TEXT\n"
                "       twenty columns wide.  kept as it is\n");
    assert_rows(some, rows, 1, 40,
                "EXTRA                 TEXT\ntwenty columns wide.  kept as it is\n");
    assert_rows(some, rows, 1, 25, "TEXT\nkept as it is\n");
}

/* Goal: columns are dropped by their declared priority, not by their place; a column keeps its
 * minimum width. Method: three columns of one width, on narrower and narrower terminals. */
static void test_columns_are_dropped_by_priority(void **state)
{
    static const struct table_column some[] = {
        {.title = "A", .extra = 2}, {.title = "B", .min = 12}, {.title = "C", .extra = 1}};
    static const struct slice rows[][3] = {{SLICE("aaaaaaaaaaaaaaaaaaaa"),
                                            SLICE("bbbbbbbbbbbbbbbbbbbb"),
                                            SLICE("cccccccccccccccccccc")}};

    (void)state;
    assert_rows(some, rows, 1, 40,
                "A             B             C\n"
                "aaaaaaaaaaa\xe2\x80\xa6  bbbbbbbbbbb\xe2\x80\xa6  ccccccccccc\xe2\x80\xa6\n");
    assert_rows(some, rows, 1, 30,
                "B               C\n"
                "bbbbbbbbbbbbb\xe2\x80\xa6  ccccccccccccc\xe2\x80\xa6\n");
    assert_rows(some, rows, 1, 15, "B\nbbbbbbbbbbbbbb\xe2\x80\xa6\n");
}

/* Goal: the pages of a list have the same columns under one heading; a column that was empty on earlier pages
 * requires another heading. Method: three pages: ids grow on the second, a text appears on the third. */
static void test_pages_share_one_heading(void **state)
{
    static const struct slice rows[][3] = {{SLICE("1"), SLICE("7"), SLICE("")},
                                           {SLICE("longer"), SLICE("8"), SLICE("")},
                                           {SLICE("3"), SLICE("9"), SLICE("text")}};
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {
        .stream = open_memstream(&text, &size), .terminal = true, .width = 40};
    struct table_layout layout = {.chosen = false};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct table table;
        struct arena arena;

        arena_init(&arena, 1 << 16);
        table_init(&table, &arena, columns, 3);
        assert_true(table_add(&table, rows[i]));
        table_print_page(&table, &printer, &layout);
        arena_deinit(&arena);
    }
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, "ID  COUNT\n"
                              "1       7\n"
                              "longer      8\n"
                              "ID      COUNT  TEXT\n"
                              "3           9  text\n");
    free(text);
}

/* Goal: colours surround the letters, not the blanks between columns, and change no width.
 * Method: a column with a colour, a cell with another, a whole row in a third. */
static void test_colours_do_not_change_widths(void **state)
{
    static const struct table_column some[] = {{.title = "ID", .colour = COLOUR_DIM},
                                               {.title = "STATE"}};
    const struct slice first[] = {SLICE("1"), SLICE("ended")};
    const struct slice second[] = {SLICE("22"), SLICE("x")};
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {
        .stream = open_memstream(&text, &size), .terminal = true, .colour = true, .width = 80};
    struct table table;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 16);
    table_init(&table, &arena, some, 2);
    assert_true(table_add(&table, first));
    table_colour(&table, 1, COLOUR_RED);
    assert_true(table_add(&table, second));
    table_colour(&table, TABLE_COLUMNS_MAX, COLOUR_YELLOW);
    table_print(&table, &printer);
    assert_int_equal(fclose(printer.stream), 0);
    assert_string_equal(text, "\x1b[1mID\x1b[0m  \x1b[1mSTATE\x1b[0m\n"
                              "\x1b[2m1\x1b[0m   \x1b[31mended\x1b[0m\n"
                              "\x1b[33m22\x1b[0m  \x1b[33mx\x1b[0m\n");
    free(text);
    arena_deinit(&arena);
}

/* Goal: wide characters take as many columns as on a terminal; escapes are aligned as well on a terminal without
 * UTF-8. Method: two Chinese letters, a pair of emoji and an accent, above plain text. */
static void test_wide_letters_take_two_columns(void **state)
{
    static const struct table_column some[] = {{.title = "NAME"}, {.title = "N", .right = true}};
    static const struct slice rows[][2] = {{SLICE("\xe6\xbc\xa2\xe5\xad\x97"), SLICE("1")},
                                           {SLICE("\xf0\x9f\x98\x80!"), SLICE("2")},
                                           {SLICE("e\xcc\x81t\xc3\xa9"), SLICE("3")}};

    (void)state;
    for (unsigned ascii = 0; ascii < 2; ascii++) {
        char *text = NULL;
        size_t size = 0;
        struct printer printer = {.stream = open_memstream(&text, &size),
                                  .terminal = true,
                                  .ascii = ascii == 1,
                                  .width = 80};
        struct table table;
        struct arena arena;

        arena_init(&arena, 1 << 16);
        table_init(&table, &arena, some, 2);
        for (size_t i = 0; i < 3; i++) {
            assert_true(table_add(&table, rows[i]));
        }
        table_print(&table, &printer);
        assert_int_equal(fclose(printer.stream), 0);
        assert_string_equal(text, ascii == 0 ? "NAME  N\n"
                                               "\xe6\xbc\xa2\xe5\xad\x97  1\n"
                                               "\xf0\x9f\x98\x80!   2\n"
                                               "e\xcc\x81t\xc3\xa9   3\n"
                                             : "NAME            N\n"
                                               "\\u6f22\\u5b57    1\n"
                                               "\\U01f600!       2\n"
                                               "e\\u0301t\\u00e9  3\n");
        free(text);
        arena_deinit(&arena);
    }
}

/* Goal: an empty table prints nothing, not even a heading. Method: no rows. */
static void test_empty_table_prints_nothing(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {.stream = open_memstream(&text, &size)};
    struct table table;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 16);
    table_init(&table, &arena, columns, 3);
    table_print(&table, &printer);
    assert_int_equal(fclose(printer.stream), 0);
    assert_int_equal(size, 0);
    free(text);
    arena_deinit(&arena);
}

int run_table_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_aligned_and_cut_to_the_width),
        cmocka_unit_test(test_paths_are_cut_at_their_front),
        cmocka_unit_test(test_empty_columns_are_left_out_on_a_terminal),
        cmocka_unit_test(test_columns_are_dropped_by_priority),
        cmocka_unit_test(test_pages_share_one_heading),
        cmocka_unit_test(test_colours_do_not_change_widths),
        cmocka_unit_test(test_wide_letters_take_two_columns),
        cmocka_unit_test(test_empty_table_prints_nothing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
