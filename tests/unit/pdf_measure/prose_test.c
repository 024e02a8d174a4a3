/*
 * prose_test.c: lines of paragraphs are not cells: stretched spaces, paragraphs beside tables, and
 * labels that only look like lines.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Finds the lines of a page. */
static size_t find_lines(struct page *page, struct line *lines, struct row *rows)
{
    struct glyph_list glyphs = {page->glyphs, page->glyphs_count};
    const struct word **words = NULL;
    size_t count = 0;

    assert_int_equal(parts_find_words(&page->arena, glyphs, 1000, &page->words), PDF_CUT_NONE);
    words = arena_calloc(&page->arena, page->words.count + 1, sizeof(const struct word *));
    assert_non_null(words);
    for (size_t i = 0; i < page->words.count; i++) {
        words[i] = &page->words.items[i];
    }
    count = rows_find(words, page->words.count, rows);
    for (size_t i = 0; i < count; i++) {
        lines[i] = (struct line){.row = &rows[i], .wide_gap = rows_wide_gap(&rows[i])};
        lines[i].cells = arena_calloc(&page->arena, rows[i].count, sizeof *lines[i].cells);
        assert_non_null(lines[i].cells);
        lines[i].cells_count = rows_split(&rows[i], lines[i].cells);
    }
    return count;
}

/* Goal: a gap that text above or below covers is a stretched space, unless it is free in two other
 * lines, is over 5 heights wide, or is beside a number. Method: five lines; the third has a gap, and
 * some others, too. */
static void test_covered_gap_is_a_stretched_space(void **state)
{
    static const struct {
        const char *right; /* word to the right of the gap */
        double gap;
        unsigned free; /* bits of the lines that have the same gap */
        size_t cells;
    } cases[] = {{"abcd", 20, 0x04, 1}, {"abcd", 20, 0x0c, 1}, {"abcd", 20, 0x1c, 2},
                 {"abcd", 20, 0x0e, 2}, {"abcd", 50, 0x04, 1}, {"abcd", 50.1, 0x04, 2},
                 {"1994", 20, 0x04, 2}, {"abcd", 20, 0x15, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        struct line lines[8];
        struct row rows[8];

        page_init(&page);
        for (int row = 0; row < 5; row++) {
            double y = 100 + 12 * row;

            page_add_word(&page, 100, y, "abcdefgh");
            if ((cases[i].free >> row & 1) == 0) {
                page_add_word(&page, 143, y, "abcdefghijkl");
            }
            page_add_word(&page, 140 + cases[i].gap, y, cases[i].right);
        }
        assert_int_equal(find_lines(&page, lines, rows), 5);
        assert_int_equal(lines[2].cells_count, 2);
        assert_true(prose_join_stretched(&page.arena, lines, 5));
        assert_int_equal(lines[2].cells_count, cases[i].cells);
        page_deinit(&page);
    }
}

/* Goal: a single short cell above is a heading, which does not make gaps below it stretched spaces.
 * Method: two rows of a table under a heading within 70 per cent of the row, and one beyond. */
static void test_heading_does_not_stretch_spaces_below(void **state)
{
    static const struct {
        const char *heading;
        size_t cells;
    } cases[] = {{"Headings", 2}, {"Headings of rows", 1}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct page page;
        struct line lines[8];
        struct row rows[8];

        page_init(&page);
        page_add_word(&page, 100, 100, cases[i].heading);
        for (int row = 1; row <= 2; row++) {
            page_add_word(&page, 100, 100 + 12 * row, "Abc");
            page_add_word(&page, 145, 100 + 12 * row, "Def");
        }
        assert_int_equal(find_lines(&page, lines, rows), 3);
        assert_true(prose_join_stretched(&page.arena, lines, 3));
        assert_int_equal(lines[1].cells_count, cases[i].cells);
        page_deinit(&page);
    }
}

/* Goal: three lines of three words that mostly fill the width and continue with lower case are a
 * paragraph; labels, ragged lines and short ones are not. Method: a column of lines beside numbers,
 * which remain cells. */
static void test_lines_that_fill_the_width_are_a_paragraph(void **state)
{
    static const struct {
        const char *lines[5]; /* NULL: no more */
        bool prose;
    } cases[] = {
        {{"This report of the whole", "year shows what was really", "found in it at once"}, true},
        {{"This report of the whole", "year shows what was really"}, false},
        {{"Rent of all the old houses", "Fees for all the new roads", "Cost of all the rest"},
         false},
        {{"Rent of all the old houses", "fees for all the new roads", "Cost of all the rest"},
         true},
        {{"This report of the whole", "year shows what", "has been found in the year"}, false},
        {{"This-report-of-the-whole", "year-shows-what-was-really", "found-in-it-there"}, false},
        {{"An a b of the c", "in c d of the e", "at e f of the g"}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        struct line lines[8];
        struct row rows[8];
        size_t count = 0;

        page_init(&page);
        while (cases[i].lines[count] != NULL) {
            page_add_word(&page, 100, 100 + 12 * (double)count, cases[i].lines[count]);
            page_add_word(&page, 300, 100 + 12 * (double)count, "12");
            count++;
        }
        assert_int_equal(find_lines(&page, lines, rows), count);
        assert_true(prose_set_apart(&page.arena, lines, count));
        for (size_t j = 0; j < count; j++) {
            assert_int_equal(lines[j].cells_count, cases[i].prose ? 1 : 2);
            assert_int_equal(lines[j].prose_count, cases[i].prose);
            assert_true(lines[j].cells[0].x1 == (cases[i].prose ? 300 : 100));
        }
        page_deinit(&page);
    }
}

int run_prose_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_covered_gap_is_a_stretched_space),
        cmocka_unit_test(test_heading_does_not_stretch_spaces_below),
        cmocka_unit_test(test_lines_that_fill_the_width_are_a_paragraph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
