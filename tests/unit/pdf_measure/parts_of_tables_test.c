/*
 * parts_of_tables_test.c: tables without rulings that have blank rows, headings or missing cells, and text
 * in columns that is not a table.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Adds rows 14 points apart, of a label and numbers; returns where the next row goes. */
static double add_rows(struct page *page, double y, int rows, int columns)
{
    for (int row = 0; row < rows; row++) {
        page_add_word(page, 100, y, "Label");
        for (int column = 1; column < columns; column++) {
            page_add_word(page, 100 + 80 * column, y, "1,2");
        }
        y += 14;
    }
    return y;
}

/* Measures the page, and checks how many text-only tables count, and the rows of the first one. */
static void check_page(struct page *page, size_t tables, uint32_t rows)
{
    page_measure(page);
    assert_int_equal(page_count(page, PDF_TABLE_TEXT, true), tables);
    if (tables > 0) {
        assert_int_equal(page->search.found.items[0].rows, rows);
    }
    page_deinit(page);
}

/* Goal: parts with the same columns are one table over blank space of 2.6 times the distance of
 * rows, and 4.5 heights if all of three columns are the same. Method: two parts of two columns, and
 * of three, with space around the bounds. */
static void test_parts_with_the_same_columns_are_one_table(void **state)
{
    static const struct {
        int columns;
        double space; /* space between the boxes of the rows */
        size_t tables;
    } cases[] = {{2, 36.3, 1}, {2, 36.5, 2}, {3, 45, 1}, {3, 45.1, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        double y = 0;

        page_init(&page);
        y = add_rows(&page, 100, 5, cases[i].columns);
        add_rows(&page, y - 4 + cases[i].space, 5, cases[i].columns);
        check_page(&page, cases[i].tables, cases[i].tables == 1 ? 10 : 5);
    }
}

/* Goal: headings are inside a table: three, one of which is as wide as the table if the columns are
 * the same. Method: two parts of three columns, the second with a column less or not, and headings
 * between them. */
static void test_headings_are_inside_a_table(void **state)
{
    static const char narrow[] = "Group";
    static const char wide[] = "A-heading-over-all-of-the-columns";
    static const struct {
        const char *headings[5]; /* NULL: no more */
        int columns;
        size_t tables;
    } cases[] = {
        {{narrow}, 3, 1},
        {{narrow, narrow, narrow}, 3, 1},
        {{narrow, narrow, narrow, narrow}, 3, 2},
        {{wide}, 3, 1},
        {{wide, narrow}, 3, 1},
        {{wide, wide}, 3, 2},
        {{narrow}, 2, 1},
        {{wide}, 2, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        double y = 0;

        page_init(&page);
        y = add_rows(&page, 100, 5, 3) + 6;
        for (size_t j = 0; cases[i].headings[j] != NULL; j++) {
            page_add_word(&page, 100, y, cases[i].headings[j]);
            y += 14;
        }
        add_rows(&page, y + 6, 5, cases[i].columns);
        check_page(&page, cases[i].tables, cases[i].tables == 1 ? 10 : 5);
    }
}

/* Goal: a paragraph ends a table, and so does a new header. Method: two parts with three lines of a
 * paragraph between them, with a header, and with a first row that has a number. */
static void test_paragraph_or_header_ends_a_table(void **state)
{
    static const char *const lines[] = {"Text of this", "page that is", "not in a row"};

    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct page page;
        double y = 0;

        page_init(&page);
        y = add_rows(&page, 100, 5, 3) + 10;
        for (int i = 0; kind == 0 && i < 3; i++) {
            page_add_word(&page, 100, y, lines[i]);
            page_add_word(&page, 165, y, "as a whole line");
            y += 12;
        }
        if (kind > 0) {
            y += 20;
            page_add_word(&page, 100, y, "Name");
            page_add_word(&page, 180, y, "Left");
            page_add_word(&page, 260, y, kind == 1 ? "Right" : "2019");
            y += 14;
        }
        add_rows(&page, y, 5, 3);
        check_page(&page, kind == 2 ? 1 : 2, kind == 2 ? 11 : kind == 1 ? 6 : 5);
    }
}

/* Goal: rows in which different cells are missing are one table. Method: rows that take turns in
 * which columns they have. */
static void test_rows_with_missing_cells_are_one_table(void **state)
{
    struct page page;

    (void)state;
    page_init(&page);
    for (int row = 0; row < 8; row++) {
        for (int column = 0; column < 6; column++) {
            if (column % 2 == row % 2) {
                page_add_word(&page, 100 + 70 * column, 100 + 14 * row, "12");
            }
        }
    }
    check_page(&page, 1, 8);
}

/* Adds a row of a label and a text at some distance. */
static void add_pair(struct page *page, int row, const char *label, double x, const char *text)
{
    page_add_word(page, 100, 100 + 14 * row, label);
    page_add_word(page, x, 100 + 14 * row, text);
}

/* Goal: a form is not a table: over two fifths of its rows have a colon or a line to write on. Method:
 * ten rows of pairs, four or five of which have one. */
static void test_form_is_not_a_table(void **state)
{
    static const char *const labels[] = {"Name:", "____"};

    (void)state;
    for (int fields = 4; fields <= 5; fields++) {
        for (int kind = 0; kind < 2; kind++) {
            struct page page;

            page_init(&page);
            for (int row = 0; row < 10; row++) {
                add_pair(&page, row, row < fields ? labels[kind] : "Name", 200, "12,5");
            }
            check_page(&page, fields == 4, 10);
        }
    }
}

/* Goal: a table of contents is not a table: page numbers that do not fall, in nine of ten rows.
 * Method: ten rows; one or two numbers are out of order. */
static void test_table_of_contents_is_not_a_table(void **state)
{
    static const char *const numbers[10] = {"1", "1", "3", "4", "9", "12", "20", "31", "40", "41"};

    (void)state;
    for (int wrong = 1; wrong <= 2; wrong++) {
        struct page page;

        page_init(&page);
        for (int row = 0; row < 10; row++) {
            bool falls = row == 5 || (row == 7 && wrong == 2);

            add_pair(&page, row, "Chapter....", 300, falls ? "2" : numbers[row]);
        }
        check_page(&page, wrong == 2, 10);
    }
}

/* Goal: addresses beside each other are not a table: rows are alike, not columns. Method: rows of three
 * cells that all have digits or none, and one of nine that is mixed or two. */
static void test_addresses_are_not_a_table(void **state)
{
    (void)state;
    for (int mixed = 1; mixed <= 2; mixed++) {
        struct page page;

        page_init(&page);
        for (int row = 0; row < 9; row++) {
            for (int cell = 0; cell < 3; cell++) {
                bool digit = row < mixed ? cell == 0 : row % 2 == 0;

                page_add_word(&page, 100 + 90 * cell, 100 + 14 * row, digit ? "Road 12" : "Town");
            }
        }
        check_page(&page, mixed == 2, 9);
    }
}

/* Goal: an index is not a table: four fifths of its cells have letters and digits. Method: nine rows of
 * three cells, of which 22 have both, or 21. */
static void test_index_is_not_a_table(void **state)
{
    (void)state;
    for (int lettered = 21; lettered <= 22; lettered++) {
        struct page page;

        page_init(&page);
        for (int cell = 0; cell < 27; cell++) {
            int row = cell / 3;

            page_add_word(&page, 100 + 90 * (cell % 3), 100 + 14 * row,
                          cell < lettered ? "Town 12" : "1,2");
        }
        check_page(&page, lettered == 21, 9);
    }
}

/* Goal: parts of sentences are not a table: over half of the cells start with lower case, and under a
 * fifth have digits. Method: ten rows of three cells, with so many of each. */
static void test_sentences_are_not_a_table(void **state)
{
    static const struct {
        int lower;
        int digits;
        size_t tables;
    } cases[] = {{15, 0, 1}, {16, 0, 0}, {16, 5, 0}, {16, 6, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        int lower = 0;

        page_init(&page);
        for (int cell = 0; cell < 30; cell++) {
            int row = cell / 3;
            bool digit = cell % 3 == 2 && row < cases[i].digits;
            bool starts_lower = !digit && lower < cases[i].lower;

            lower += starts_lower;
            page_add_word(&page, 100 + 80 * (cell % 3), 100 + 14 * row,
                          starts_lower ? "ab"
                          : digit      ? "A1"
                                       : "Ab");
        }
        check_page(&page, cases[i].tables, 10);
    }
}

/* Goal: a list is not a table. Method: eight items of a number, or a bullet, and short text. */
static void test_list_is_not_a_table(void **state)
{
    static const char *const markers[] = {"1.", "(a)", "*", "-"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct page page;

        page_init(&page);
        for (int row = 0; row < 8; row++) {
            add_pair(&page, row, markers[i], 125, "Item 12");
        }
        check_page(&page, 0, 0);
    }
}

/* Goal: three rows count if they have four columns, mostly of numbers; beside a ruled table, six
 * are needed. Method: rows around these bounds, with a ruled table further down and without. */
static void test_three_rows_need_four_columns(void **state)
{
    static const struct {
        int rows;
        int columns;
        bool ruled;
        size_t tables;
    } cases[] = {{2, 4, false, 0}, {3, 4, false, 1}, {3, 3, false, 0},
                 {5, 4, true, 0},  {6, 4, true, 1},  {6, 3, true, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        add_rows(&page, 100, cases[i].rows, cases[i].columns);
        for (int row = 0; cases[i].ruled && row < 4; row++) {
            page_add_line(&page, 100, 500 + 30 * row, 400, 500 + 30 * row);
            page_add_word(&page, 105, 505 + 30 * row, "Ab");
            page_add_word(&page, 205, 505 + 30 * row, "Cd");
            page_add_word(&page, 305, 505 + 30 * row, "Ef");
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_TEXT, true), cases[i].tables);
        page_deinit(&page);
    }
}

int run_parts_of_tables_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_with_the_same_columns_are_one_table),
        cmocka_unit_test(test_headings_are_inside_a_table),
        cmocka_unit_test(test_paragraph_or_header_ends_a_table),
        cmocka_unit_test(test_rows_with_missing_cells_are_one_table),
        cmocka_unit_test(test_form_is_not_a_table),
        cmocka_unit_test(test_table_of_contents_is_not_a_table),
        cmocka_unit_test(test_addresses_are_not_a_table),
        cmocka_unit_test(test_sentences_are_not_a_table),
        cmocka_unit_test(test_index_is_not_a_table),
        cmocka_unit_test(test_list_is_not_a_table),
        cmocka_unit_test(test_three_rows_need_four_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
