/*
 * table_test.c: tables, as they look.
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct table_column columns[] = {{"ID", false, TABLE_NEVER_CUT, false},
                                              {"COUNT", true, TABLE_NEVER_CUT, false},
                                              {"TEXT", false, TABLE_CUT_END, false}};

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

/* Goal: columns line up; a terminal's width is kept by cutting what may be cut; scripts get all.
 * Method: the same rows for a pipe, for 40 columns, and for a width that can't be kept. */
static void layouts(void **state)
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

/* Goal: paths lose their front, where their ends tell them apart.
 * Method: two paths that differ at their ends, on a terminal that is too narrow for them. */
static void cut_in_front(void **state)
{
    static const struct table_column some[] = {{"FILE", false, TABLE_CUT_FRONT, false},
                                               {"N", true, TABLE_NEVER_CUT, false},
                                               {"NOTE", false, TABLE_NEVER_CUT, false}};
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

/* Goal: on a terminal a column that says nothing is left out, and extra ones where a row is too wide,
 * before anything that matters is cut; a script sees every column.
 * Method: one row in a column that is empty, one that is extra and one that matters. */
static void left_out(void **state)
{
    static const struct table_column some[] = {{"EMPTY", false, TABLE_CUT_END, false},
                                               {"EXTRA", false, TABLE_NEVER_CUT, true},
                                               {"TEXT", false, TABLE_CUT_END, false}};
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

/* Goal: an empty table prints nothing, not a lonely heading.
 * Method: no rows. */
static void empty(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts), cmocka_unit_test(cut_in_front),
                                       cmocka_unit_test(left_out), cmocka_unit_test(empty)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
