/*
 * text_test.c: glyphs, words, rows and cells, each rule on both sides of its bound.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Goal: white space equals that of Python's str.isspace. Method: every code point of the plane
 * against the list of its 29. */
static void test_white_space_equals_that_of_python(void **state)
{
    static const uint32_t spaces[] = {
        0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,
        0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
        0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
    };
    size_t next = 0;

    (void)state;
    for (uint32_t code_point = 0; code_point < 0x10000; code_point++) {
        bool expected = next < sizeof spaces / sizeof *spaces && spaces[next] == code_point;

        assert_int_equal(parts_is_space(code_point), expected);
        next += expected;
    }
    assert_int_equal(next, sizeof spaces / sizeof *spaces);
}

static struct coverage measure(struct arena *arena, const struct glyph *glyphs, size_t count,
                               struct pdf_page_size page)
{
    struct coverage coverage = {0};

    assert_true(parts_measure_coverage(arena, (struct glyph_list){glyphs, count}, page, &coverage));
    return coverage;
}

/* Goal: boxes are rounded half up, have at least one cell, end with the page and count once.
 * Method: one glyph for each case on a page of 10 by 20, and the cells that it must cover. */
static void test_coverage_counts_rounded_boxes_once(void **state)
{
    static const struct {
        struct area box;
        uint64_t cells;
    } cases[] = {
        {{1, 1, 3, 4}, 6},
        {{1.49, 1, 3, 4}, 6},
        {{1.5, 1, 3, 4}, 3},
        {{1, 1, 2.5, 4}, 6},
        {{1, 1, 2.49, 4}, 3},
        {{5, 5, 5.1, 5.1}, 1}, /* an empty box covers a cell */
        {{-3, -3, 2, 2}, 4},
        {{8, 18, 30, 30}, 4},
        {{-9, -9, -4, -4}, 0},
        {{40, 1, 50, 4}, 0},
        {{9.6, 19.6, 9.9, 19.9}, 0}, /* rounded to a place outside the page */
        {{-1e300, -1e300, 1e300, 1e300}, 200},
        {{NAN, NAN, NAN, NAN}, 0},
    };
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct glyph glyph = {cases[i].box, 'a'};
        struct coverage coverage = measure(&arena, &glyph, 1, (struct pdf_page_size){10, 20});

        assert_int_equal(coverage.covered, cases[i].cells);
        assert_int_equal(coverage.width * coverage.height, 200);
        glyph.code_point = ' ';
        assert_int_equal(measure(&arena, &glyph, 1, (struct pdf_page_size){10, 20}).covered, 0);
    }
    arena_deinit(&arena);
}

/* Goal: cells that two glyphs cover count once; fractional points of the page count whole; a page
 * above the limit has no cells. Method: two glyphs half over each other, and page sizes around the
 * bounds. */
static void test_coverage_is_within_the_page(void **state)
{
    static const struct glyph glyphs[] = {{{0, 0, 4, 4}, 'a'}, {{2, 0, 6, 4}, 'b'}};
    struct arena arena;
    struct coverage coverage;

    (void)state;
    arena_init(&arena, (size_t)128 << 20);
    coverage = measure(&arena, glyphs, 2, (struct pdf_page_size){9.01, 19.99});
    assert_int_equal(coverage.covered, 24);
    assert_int_equal(coverage.width, 10);
    assert_int_equal(coverage.height, 20);
    coverage = measure(&arena, glyphs, 2, (struct pdf_page_size){4000, 4000});
    assert_int_equal(coverage.width, 4000);
    assert_int_equal(coverage.covered, 24);
    coverage = measure(&arena, glyphs, 2, (struct pdf_page_size){4000.1, 10});
    assert_int_equal(coverage.width, 0);
    assert_int_equal(coverage.covered, 0);
    coverage = measure(&arena, glyphs, 2, (struct pdf_page_size){10, 4000.1});
    assert_int_equal(coverage.height, 0);
    coverage = measure(&arena, glyphs, 2, (struct pdf_page_size){0, 0});
    assert_int_equal(coverage.width, 0);
    arena_deinit(&arena);
}

static struct word_list find_words(struct arena *arena, const struct glyph *glyphs, size_t count)
{
    struct word_list words = {0};

    assert_int_equal(parts_find_words(arena, (struct glyph_list){glyphs, count}, 100, &words),
                     PDF_CUT_NONE);
    return words;
}

/* Goal: words end at white space and at gaps of over a quarter of a glyph. Method: two glyphs of 8
 * by 10 points with gaps of 2.5 and 2.6 to each side. */
static void test_words_end_at_space_and_gaps(void **state)
{
    static const struct {
        double x;
        double y;
        size_t words;
    } cases[] = {
        {8, 0, 1},  {10.5, 0, 1}, {10.6, 0, 2}, {-10.5, 0, 1}, {-10.6, 0, 2},
        {0, 10, 1}, {0, 12.5, 1}, {0, 12.6, 2}, {0, -12.5, 1}, {0, -12.6, 2},
    };
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x = 50 + cases[i].x;
        double y = 50 + cases[i].y;
        struct glyph glyphs[] = {{{50, 50, 58, 60}, 'a'}, {{x, y, x + 8, y + 10}, '7'}};
        struct word_list words = find_words(&arena, glyphs, 2);

        assert_int_equal(words.count, cases[i].words);
        assert_int_equal(words.items[0].has_digit || words.items[words.count - 1].has_digit, 1);
        if (words.count == 1) {
            assert_int_equal(words.items[0].glyphs, 2);
            assert_int_equal(words.items[0].turned, cases[i].x == 0);
        }
    }
    arena_deinit(&arena);
}

/* Goal: spaces separate words, digits of any script are recognised, glyphs without a position are
 * left out, words are sorted down the page. Method: a handful of glyphs out of order. */
static void test_words_are_sorted_with_their_kinds(void **state)
{
    static const struct glyph glyphs[] = {
        {{50, 90, 58, 100}, 0x0664}, {{58, 90, 60, 100}, 0xA0}, {{60, 90, 68, 100}, 'b'},
        {{68, 90, 70, 100}, '\n'},   {{10, 20, 18, 30}, 'c'},   {{NAN, 20, 18, 30}, '5'},
        {{18, 20, 26, 30}, 'd'},
    };
    struct arena arena;
    struct word_list words;

    (void)state;
    arena_init(&arena, 1 << 20);
    words = find_words(&arena, glyphs, sizeof glyphs / sizeof *glyphs);
    assert_int_equal(words.count, 3);
    assert_true(words.items[0].box.x1 == 10 && words.items[0].box.x2 == 26);
    assert_int_equal(words.items[0].glyphs, 2);
    assert_false(words.items[0].has_digit);
    assert_true(words.items[1].box.x1 == 50 && words.items[1].has_digit);
    assert_true(words.items[2].box.x1 == 60 && !words.items[2].has_digit);
    arena_deinit(&arena);
}

/* Goal: more words than the limit are a cut, as many as the limit are not; a lack of memory is also
 * a cut. Method: three words against limits of 3 and 2, and an arena without bytes. */
static void test_words_above_the_limit_are_cut(void **state)
{
    static const struct glyph glyphs[] = {
        {{0, 0, 8, 10}, 'a'}, {{20, 0, 28, 10}, 'b'}, {{40, 0, 48, 10}, 'c'}};
    struct glyph_list list = {glyphs, 3};
    struct arena arena;
    struct word_list words = {0};

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(parts_find_words(&arena, list, 3, &words), PDF_CUT_NONE);
    assert_int_equal(words.count, 3);
    assert_int_equal(parts_find_words(&arena, list, 2, &words), PDF_CUT_WORDS);
    arena_deinit(&arena);
    arena_init(&arena, 16);
    assert_int_equal(parts_find_words(&arena, list, 3, &words), PDF_CUT_LIMIT);
    arena_deinit(&arena);
}

/* Goal: words share a row if they overlap by half of the smaller one's height. Method: two words of
 * 10 points, 5 and 5.1 apart; a raised small word; and the resulting row. */
static void test_words_that_overlap_vertically_share_a_row(void **state)
{
    struct word_list list;
    const struct word *words[8];
    struct row rows[8];
    static const struct {
        double y;
        double height;
        size_t rows;
    } cases[] = {{105, 10, 1}, {105.1, 10, 2}, {98, 4, 1}, {97.9, 4, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        page_add_word(&page, 100, 100, "left");
        page_add_word_of_height(&page, 50, cases[i].y, cases[i].height, "right");
        list = find_words(&page.arena, page.glyphs, page.glyphs_count);
        assert_int_equal(list.count, 2);
        words[0] = &list.items[0];
        words[1] = &list.items[1];
        assert_int_equal(rows_find(words, 2, rows), cases[i].rows);
        if (cases[i].rows == 1) {
            assert_true(rows[0].words[0]->box.x1 == 50);
            assert_true(fabs(rows[0].y1 - (100 + cases[i].y) / 2) < 1e-9);
        }
        page_deinit(&page);
    }
}

/* Goal: cells are separated by gaps over 0.75 of the row's height, over 1.3 of the width of a
 * glyph, and over 5 points. Method: rows of 10 and of 4 points, of glyphs 5 and 2.5 points wide,
 * with gaps on both sides of 7.5, 6.5 and 5. */
static void test_cells_are_separated_by_wide_gaps(void **state)
{
    static const struct {
        double height;
        double scale; /* scale of all x coordinates */
        double gap;
        size_t cells;
    } cases[] = {{10, 1, 7.5, 1}, {10, 1, 7.6, 2}, {4, 1, 6.5, 1},
                 {4, 1, 6.6, 2},  {4, 0.5, 5, 1},  {4, 0.5, 5.1, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        struct word_list list;
        const struct word *words[3];
        struct row rows[3];
        struct cell cells[3];

        page_init(&page);
        page_add_word_of_height(&page, 100, 100, cases[i].height, "ab");
        page_add_word_of_height(&page, 112, 100, cases[i].height, "cd");
        page_add_word_of_height(&page, 122 + cases[i].gap / cases[i].scale, 100, cases[i].height,
                                "12");
        for (size_t j = 0; j < page.glyphs_count; j++) {
            page.glyphs[j].box.x1 *= cases[i].scale;
            page.glyphs[j].box.x2 *= cases[i].scale;
        }
        list = find_words(&page.arena, page.glyphs, page.glyphs_count);
        assert_int_equal(list.count, 3);
        for (size_t j = 0; j < 3; j++) {
            words[j] = &list.items[j];
        }
        assert_int_equal(rows_find(words, 3, rows), 1);
        assert_int_equal(rows_split(&rows[0], cells), cases[i].cells);
        assert_int_equal(cells[0].words, cases[i].cells == 1 ? 3 : 2);
        assert_int_equal(cells[0].has_digit, cases[i].cells == 1);
        assert_true(cells[0].x1 == 100 * cases[i].scale);
        page_deinit(&page);
    }
}

/* Goal: a word is marked as a leader, a marker of a list, a label or line of a form, a page number,
 * or the continuation of a sentence. Method: one word for each case. */
static void test_words_have_their_marks(void **state)
{
    static const struct {
        const char *text;
        bool leader;
        bool bullet;
        bool marker;
        bool field;
        bool lower;
        uint32_t number;
    } cases[] = {
        {"...", .leader = true, .number = WORD_NO_NUMBER},
        {".", .leader = true, .number = WORD_NO_NUMBER},
        {"*", .bullet = true, .marker = true, .number = WORD_NO_NUMBER},
        {"-", .marker = true, .number = WORD_NO_NUMBER},
        {"--", .number = WORD_NO_NUMBER},
        {"3.", .marker = true, .number = WORD_NO_NUMBER},
        {"12.3.4.", .marker = true, .number = WORD_NO_NUMBER},
        {"12.3.45.", .number = WORD_NO_NUMBER}, /* eight glyphs */
        {"b)", .marker = true, .lower = true, .number = WORD_NO_NUMBER},
        {"[7]", .marker = true, .number = WORD_NO_NUMBER},
        {"(xviii)", .marker = true, .number = WORD_NO_NUMBER},
        {"St.", .number = WORD_NO_NUMBER},
        {"a1.", .lower = true, .number = WORD_NO_NUMBER},
        {"Name:", .field = true, .number = WORD_NO_NUMBER},
        {"____", .field = true, .number = WORD_NO_NUMBER},
        {"_a", .number = WORD_NO_NUMBER},
        {"9999", .number = 9999},
        {"0", .number = 0},
        {"12345", .number = WORD_NO_NUMBER},
        {"1,234", .number = WORD_NO_NUMBER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        struct word_list list;

        page_init(&page);
        page_add_word(&page, 100, 100, cases[i].text);
        list = find_words(&page.arena, page.glyphs, page.glyphs_count);
        assert_int_equal(list.count, 1);
        assert_int_equal(list.items[0].is_leader, cases[i].leader);
        assert_int_equal(list.items[0].is_bullet, cases[i].bullet);
        assert_int_equal(list.items[0].is_marker, cases[i].marker);
        assert_int_equal(list.items[0].is_field, cases[i].field);
        assert_int_equal(list.items[0].starts_lower, cases[i].lower);
        assert_int_equal(list.items[0].number, cases[i].number);
        page_deinit(&page);
    }
}

/* Goal: three dots that touch a word are a separate word, fewer are part of it, and leaders are
 * left out of rows. Method: labels with dots, and the words that words_pick keeps. */
static void test_leaders_are_left_out_of_rows(void **state)
{
    static const struct {
        const char *text;
        size_t words;
        size_t kept;
    } cases[] = {{"Sum..", 1, 1}, {"Sum...", 2, 1}, {"Sum......12", 3, 2}, {"...Sum", 2, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        struct word_list list;
        struct word_list kept;

        page_init(&page);
        page_add_word(&page, 100, 100, cases[i].text);
        list = find_words(&page.arena, page.glyphs, page.glyphs_count);
        assert_int_equal(list.count, cases[i].words);
        assert_true(words_pick(&page.arena, list, false, &kept));
        assert_int_equal(kept.count, cases[i].kept);
        page_deinit(&page);
    }
}

/* Goal: a marker belongs to the text up to 4 heights after it: a bullet anywhere, another one only
 * at the start of the row. Method: rows of three words with gaps around the bound. */
static void test_list_markers_belong_to_their_text(void **state)
{
    static const struct {
        const char *first;
        const char *second;
        double gap; /* gap after the second word */
        size_t cells;
    } cases[] = {{"Ab", "cd", 20, 3},  {"Ab", "*", 20, 2},  {"Ab", "*", 40, 2},
                 {"Ab", "*", 40.1, 3}, {"Ab", "1)", 20, 3}, {"1)", "cd", 20, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        struct word_list list;
        const struct word *words[3];
        struct row rows[3];
        struct cell cells[3];
        double end = 140 + 5 * (double)strlen(cases[i].second);

        page_init(&page);
        page_add_word(&page, 110, 100, cases[i].first);
        page_add_word(&page, 140, 100, cases[i].second);
        page_add_word(&page, end + cases[i].gap, 100, "Ef");
        list = find_words(&page.arena, page.glyphs, page.glyphs_count);
        for (size_t j = 0; j < 3; j++) {
            words[j] = &list.items[j];
        }
        assert_int_equal(rows_find(words, 3, rows), 1);
        assert_int_equal(rows_split(&rows[0], cells), cases[i].cells);
        page_deinit(&page);
    }
}

int run_text_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_white_space_equals_that_of_python),
        cmocka_unit_test(test_coverage_counts_rounded_boxes_once),
        cmocka_unit_test(test_coverage_is_within_the_page),
        cmocka_unit_test(test_words_end_at_space_and_gaps),
        cmocka_unit_test(test_words_are_sorted_with_their_kinds),
        cmocka_unit_test(test_words_above_the_limit_are_cut),
        cmocka_unit_test(test_words_that_overlap_vertically_share_a_row),
        cmocka_unit_test(test_cells_are_separated_by_wide_gaps),
        cmocka_unit_test(test_words_have_their_marks),
        cmocka_unit_test(test_leaders_are_left_out_of_rows),
        cmocka_unit_test(test_list_markers_belong_to_their_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
