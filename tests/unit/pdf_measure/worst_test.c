/*
 * worst_test.c: the largest pages that are not cut. Each would take hours in quadratic time, and exceed the tests'
 * time limit. The times are printed, not judged.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#define RULINGS_EACH_WAY 20000
#define WORDS 100000
/* Ten times the duration under a sanitizer on a slow machine; a thousandth of the duration without the limit. */
#define SECONDS_MAX 20

/* Measures a page and prints the CPU time of it. */
static enum pdf_cut measure(struct page *page, const char *what)
{
    struct glyph_list glyphs = {page->glyphs, page->glyphs_count};
    clock_t start = clock();
    double seconds = 0;

    assert_int_equal(parts_find_words(&page->arena, glyphs, WORDS, &page->words), PDF_CUT_NONE);
    rulings_merge(&page->rulings, RULINGS_EACH_WAY);
    tables_find(&page->search, &page->arena, page->words, &page->rulings);
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%-44s %6.0f ms\n", what, seconds * 1000);
    assert_true(seconds < SECONDS_MAX);
    return page->search.cut;
}

static void init_page(struct page *page, double side)
{
    page_init(page);
    page->rulings.page = (struct pdf_page_size){side, side};
}

/* Words side by side, `columns` in a row. */
static void add_words(struct page *page, size_t columns, double width, double pitch)
{
    for (size_t i = 0; i < WORDS; i++) {
        size_t row = i / columns;
        double x = 1 + width * (double)(i % columns);
        double y = 1 + pitch * (double)row;

        page_add_word(page, x, y, "1");
    }
}

/* Goal: a grid of 400 million crossings is joined, with words in it. Method: as many rulings and words
 * as are allowed. */
static void test_huge_grid_is_joined(void **state)
{
    const double side = 16.0 * RULINGS_EACH_WAY;
    struct page page;

    (void)state;
    init_page(&page, side + 10);
    for (int i = 0; i < RULINGS_EACH_WAY; i++) {
        page_add_line(&page, 0, 16.0 * i, side, 16.0 * i);
        page_add_line(&page, 16.0 * i, 0, 16.0 * i, side);
    }
    add_words(&page, 6, 16.0 * RULINGS_EACH_WAY / 6, 16);
    assert_int_equal(measure(&page, "20,000 x 20,000 rulings, 100,000 words"), PDF_CUT_NONE);
    assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, true), 1);
    page_deinit(&page);
}

/* Goal: rows of 50,000 words and columns of as many are chained. Method: pages of one row, of two
 * columns, of a square, all of cells of one letter. */
static void test_rows_of_50000_words_are_chained(void **state)
{
    static const size_t columns[] = {WORDS, WORDS / 2, 300, 3, 2, 1};

    (void)state;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        struct page page;
        char what[64];

        init_page(&page, 1e7);
        add_words(&page, columns[i], 20, 12);
        snprintf(what, sizeof what, "100,000 words, %zu in a row", columns[i]);
        assert_int_equal(measure(&page, what), PDF_CUT_NONE);
        page_deinit(&page);
    }
}

/* Goal: the choice among thousands of overlapping tables ends. Method: grids of three by three,
 * each moved a little. */
static void test_overlapping_tables_are_settled(void **state)
{
    struct page page;

    (void)state;
    init_page(&page, 1e6);
    for (int i = 0; i < RULINGS_EACH_WAY / 3; i++) {
        double x = 100.0 * i;

        for (int line = 0; line < 3; line++) {
            page_add_line(&page, x, 20.0 * line, x + 80, 20.0 * line);
            page_add_line(&page, x + 40.0 * line, 0, x + 40.0 * line, 40);
        }
        for (int word = 0; word < 4; word++) {
            int row = word / 2;

            page_add_word(&page, x + 5 + 40 * (word % 2), 4 + 20 * row, "12");
        }
    }
    assert_int_equal(measure(&page, "6,666 tables side by side"), PDF_CUT_WORDS);
    page_deinit(&page);
}

/* Goal: the search of tables that all contain all words ends at the budget. Method: rules of many
 * extents around all words. */
static void test_tables_end_at_the_budget(void **state)
{
    struct page page;

    (void)state;
    init_page(&page, 1e6);
    add_words(&page, 300, 20, 12);
    for (int i = 0; i < 1000; i++) {
        for (int line = 0; line < 60; line++) {
            page_add_line(&page, 4.0 * i, 80.0 * line + 0.001 * i, 6100 + 4.0 * i,
                          80.0 * line + 0.001 * i);
        }
    }
    (void)measure(&page, "1,000 extents around 100,000 words");
    page_deinit(&page);
}

/* Goal: coverage by glyphs that are all as large as the largest page is computed by their corners.
 * Method: 100,000 of them, which have 16 million cells each. */
static void test_huge_glyphs_are_covered_by_their_corners(void **state)
{
    static struct glyph glyphs[WORDS];
    struct arena arena;
    struct coverage coverage = {0};
    clock_t start = clock();

    (void)state;
    for (int i = 0; i < WORDS; i++) {
        glyphs[i] = (struct glyph){{0.01 * i, 0, 4000, 4000}, 'a'};
    }
    arena_init(&arena, (size_t)256 << 20);
    assert_true(parts_measure_coverage(&arena, (struct glyph_list){glyphs, WORDS},
                                       (struct pdf_page_size){4000, 4000}, &coverage));
    assert_int_equal(coverage.covered, 16000000);
    printf("%-44s %6.0f ms\n", "100,000 glyphs as large as the page",
           (double)(clock() - start) / CLOCKS_PER_SEC * 1000);
    arena_deinit(&arena);
}

/* Goal: as many pieces as the buffer holds are merged. Method: pieces at 20,000 places, ten at
 * each. */
static void test_all_pieces_are_merged(void **state)
{
    struct page page;

    (void)state;
    init_page(&page, 1e6);
    for (int i = 0; i < RULING_PIECES_MAX; i++) {
        double y = 4.0 * (i % RULINGS_EACH_WAY);

        page_add_line(&page, 100.0 * (i % 7), y, 100.0 * (i % 7) + 90, y);
        page_add_line(&page, y, 100.0 * (i % 7), y, 100.0 * (i % 7) + 90);
    }
    (void)measure(&page, "200,000 pieces of rulings each way");
    page_deinit(&page);
}

int run_worst_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_huge_grid_is_joined),
        cmocka_unit_test(test_rows_of_50000_words_are_chained),
        cmocka_unit_test(test_overlapping_tables_are_settled),
        cmocka_unit_test(test_tables_end_at_the_budget),
        cmocka_unit_test(test_all_pieces_are_merged),
        cmocka_unit_test(test_huge_glyphs_are_covered_by_their_corners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
