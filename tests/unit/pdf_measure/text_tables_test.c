/*
 * text_tables_test.c: tables without rulings: how rows are chained, which chains are tables, and which
 * of them count.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Rows of cells, 50 points apart, of words 10 points tall. */
struct block {
    int rows;
    int columns;
    double pitch; /* distance of rows */
    int words; /* number of words of a cell */
    int digit_cells; /* number of cells of the block with a digit, from the last column on */
};

static void add_block(struct page *page, const struct block *block)
{
    for (int i = 0; i < block->rows * block->columns; i++) {
        int row = i / block->columns;
        double y = 100 + block->pitch * row;
        int column = i % block->columns;
        double x = 100 + 80 * column;
        bool has_digit = (block->columns - 1 - column) * block->rows + row < block->digit_cells;

        for (int word = 0; word < block->words; word++) {
            page_add_word(page, x + 15 * word, y, has_digit ? "12" : "Ab");
        }
    }
}

static void check_block(const struct block *block, size_t found, size_t counted)
{
    struct page page;

    page_init(&page);
    add_block(&page, block);
    page_measure(&page);
    assert_int_equal(page_count(&page, PDF_TABLE_TEXT, false), found);
    assert_int_equal(page_count(&page, PDF_TABLE_TEXT, true), counted);
    page_deinit(&page);
}

/* Goal: three rows of three columns are a table, and five rows count; cells are short or have digits.
 * Method: blocks around each bound. */
static void test_three_rows_of_three_columns_are_a_table(void **state)
{
    (void)state;
    check_block(&(struct block){2, 3, 14, 1, 0}, 0, 0);
    check_block(&(struct block){3, 3, 14, 1, 0}, 1, 0);
    check_block(&(struct block){4, 3, 14, 1, 0}, 1, 0);
    check_block(&(struct block){5, 3, 14, 1, 0}, 1, 1);
    check_block(&(struct block){5, 3, 14, 3, 0}, 1, 1);
    check_block(&(struct block){5, 3, 14, 4, 0}, 0, 0);
    /* Five of fifteen cells are 33 per cent, four are 27. */
    check_block(&(struct block){5, 3, 14, 4, 5}, 1, 1);
    check_block(&(struct block){5, 3, 14, 4, 4}, 0, 0);
}

/* Goal: four rows of two columns with 35 per cent of digits are a table; one column is not. Method:
 * blocks around each bound; seven of twenty cells are 35 per cent. */
static void test_four_rows_of_two_columns_with_digits_are_a_table(void **state)
{
    (void)state;
    check_block(&(struct block){3, 2, 14, 1, 6}, 0, 0);
    check_block(&(struct block){4, 2, 14, 1, 8}, 1, 0);
    check_block(&(struct block){10, 2, 14, 1, 7}, 1, 1);
    check_block(&(struct block){10, 2, 14, 1, 6}, 0, 0);
    check_block(&(struct block){10, 2, 14, 9, 20}, 0, 0); /* the words touch: one column */
    check_block(&(struct block){10, 1, 14, 1, 10}, 0, 0);
}

/* Goal: rows of a table are near each other: gaps of at most 2.6 heights, or of 4.5 if they have
 * the same three columns. Method: rows 10 tall, of two columns and of three, with gaps on both
 * sides of the bounds. */
static void test_distant_rows_are_not_a_table(void **state)
{
    (void)state;
    check_block(&(struct block){5, 2, 36, 1, 5}, 1, 1);
    check_block(&(struct block){5, 2, 36.1, 1, 5}, 0, 0);
    check_block(&(struct block){5, 3, 55, 1, 0}, 1, 1);
    check_block(&(struct block){5, 3, 55.1, 1, 0}, 0, 0);
}

/* Goal: half of the rows have three cells. Method: six rows, two or three of which have two. */
static void test_half_of_the_rows_need_three_cells(void **state)
{
    (void)state;
    for (int narrow = 3; narrow <= 4; narrow++) {
        struct page page;

        page_init(&page);
        for (int row = 0; row < 6; row++) {
            for (int cell = 0; cell < (row < narrow ? 2 : 3); cell++) {
                page_add_word(&page, 100 + 80 * cell, 100 + 14 * row, "Ab");
            }
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_TEXT, true), narrow == 3);
        page_deinit(&page);
    }
}

/* Goal: cells are aligned by the left edge or the right one (3 points), or by their middle (2.5),
 * at least two of them and 60 per cent. Method: six rows of three cells; in the last three, two
 * cells are moved, or are wider to one side or to both. */
static void test_cells_of_a_table_are_aligned(void **state)
{
    static const struct {
        double left; /* offset of the cells' left edges */
        const char *text;
        size_t tables;
    } cases[] = {
        {0, "Abcd", 1},         {3, "Abcd", 1},         {3.1, "Abcd", 0},
        {-10, "Abcdef", 1}, /* the right edge stays */
        {-13, "Abcdef", 1},     {-13.1, "Abcdef", 0},   {-10, "Abcdefgh", 1}, /* the middle stays */
        {-12.5, "Abcdefgh", 1}, {-12.6, "Abcdefgh", 0}, {-7.5, "Abcdefgh", 1},
        {-7.4, "Abcdefgh", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        for (int row = 0; row < 6; row++) {
            bool moved = row >= 3;

            for (int cell = 0; cell < 3; cell++) {
                double x = 100 + 80 * cell + (moved && cell > 0 ? cases[i].left : 0);

                page_add_word(&page, x, 100 + 14 * row, moved && cell > 0 ? cases[i].text : "Abcd");
            }
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_TEXT, true), cases[i].tables);
        page_deinit(&page);
    }
}

/* Goal: of more columns 60 per cent are aligned. Method: rows of five cells, three or two of them
 * aligned. */
static void test_most_cells_of_wide_rows_are_aligned(void **state)
{
    (void)state;
    for (int shared = 2; shared <= 3; shared++) {
        struct page page;

        page_init(&page);
        for (int row = 0; row < 6; row++) {
            for (int cell = 0; cell < 5; cell++) {
                double moved = row >= 3 && cell >= shared ? 35 : 0;

                page_add_word(&page, 50 + 80 * cell + moved, 100 + 14 * row, "Abcd");
            }
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_TEXT, true), shared == 3);
        page_deinit(&page);
    }
}

/* Goal: up to three other rows may be between two rows of a table. Method: rows with three and four
 * small lines between them, all within the maximum distance. */
static void test_three_other_rows_may_be_within_a_table(void **state)
{
    (void)state;
    for (int between = 3; between <= 4; between++) {
        struct page page;

        page_init(&page);
        for (int row = 0; row < 5; row++) {
            for (int cell = 0; cell < 3; cell++) {
                page_add_word_of_height(&page, 100 + 80 * cell, 100 + 36 * row, 10, "Ab");
            }
            for (int line = 0; line < between; line++) {
                page_add_word_of_height(&page, 120, 112 + 36 * row + 5 * line, 4, "continued");
            }
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_TEXT, true), between == 3);
        page_deinit(&page);
    }
}

/* Goal: text-only tables do not count beside a ruled one, in any place. Method: a block of six rows,
 * with rules under it and without. */
static void test_text_table_beside_a_ruled_one_does_not_count(void **state)
{
    (void)state;
    for (int ruled = 0; ruled < 2; ruled++) {
        struct page page;

        page_init(&page);
        add_block(&page, &(struct block){6, 3, 14, 1, 0});
        for (int row = 0; row < 4 * ruled; row++) {
            page_add_line(&page, 100, 500 + 30 * row, 400, 500 + 30 * row);
            page_add_word(&page, 105, 505 + 30 * row, "ab");
            page_add_word(&page, 205, 505 + 30 * row, "cd");
            page_add_word(&page, 305, 505 + 30 * row, "ef");
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_TEXT, true), 1 - ruled);
        assert_int_equal(page_count(&page, PDF_TABLE_RULES, true), ruled);
        assert_true(page_count(&page, PDF_TABLE_TEXT, false) >= 1);
        page_deinit(&page);
    }
}

int run_text_tables_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_rows_of_three_columns_are_a_table),
        cmocka_unit_test(test_four_rows_of_two_columns_with_digits_are_a_table),
        cmocka_unit_test(test_distant_rows_are_not_a_table),
        cmocka_unit_test(test_half_of_the_rows_need_three_cells),
        cmocka_unit_test(test_cells_of_a_table_are_aligned),
        cmocka_unit_test(test_most_cells_of_wide_rows_are_aligned),
        cmocka_unit_test(test_three_other_rows_may_be_within_a_table),
        cmocka_unit_test(test_text_table_beside_a_ruled_one_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
