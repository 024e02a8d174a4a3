/*
 * rulings_test.c: strokes and fills become rulings, and pieces of them are merged; each number on both
 * sides of its bound.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PIECES_MAX 20000

/* Adds a box, stroked or filled. */
static void add_box(struct rulings *rulings, bool filled, const struct area *box)
{
    struct path_point points[] = {{box->x1, box->y1, false},
                                  {box->x2, box->y1, true},
                                  {box->x2, box->y2, true},
                                  {box->x1, box->y2, true}};
    struct path_part part = {.points = points, .count = 4, .closed = true};

    if (filled) {
        rulings_add_fill(rulings, &part);
    } else {
        rulings_add_stroke(rulings, &part);
    }
}

/* Goal: a segment is a ruling if it deviates by at most 0.7 points and is at least 4 long. Method:
 * one segment for each case, in both directions. */
static void test_straight_segment_is_a_ruling(void **state)
{
    static const struct {
        double along;
        double lean;
        size_t count;
    } cases[] = {{4, 0, 1},     {3.9, 0, 0},   {100, 0.7, 1}, {100, 0.71, 0},
                 {-50, 0.5, 1}, {50, -0.7, 1}, {50, 50, 0},   {0, 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        page_add_line(&page, 200, 200, 200 + cases[i].along, 200 + cases[i].lean);
        page_add_line(&page, 300, 300, 300 + cases[i].lean, 300 + cases[i].along);
        rulings_merge(&page.rulings, PIECES_MAX);
        assert_int_equal(page.rulings.across.count, cases[i].count);
        assert_int_equal(page.rulings.down.count, cases[i].count);
        if (cases[i].count == 1) {
            assert_true(fabs(page.rulings.across.items[0].at - 200 - cases[i].lean / 2) < 1e-9);
            assert_true(page.rulings.down.items[0].from == 300 + fmin(0, cases[i].along));
        }
        page_deinit(&page);
    }
}

/* Goal: thin filled boxes are one ruling along their middle, thick ones their edges; a stroked box
 * is four, closed or not. Method: boxes just below and above 3 points. */
static void test_thin_box_is_one_ruling_thick_box_four(void **state)
{
    static const struct {
        struct area box;
        bool filled;
        size_t across;
        size_t down;
    } cases[] = {
        {{100, 100, 200, 103}, true, 1, 0},  {{100, 100, 200, 103.1}, true, 2, 0},
        {{100, 100, 200, 104}, true, 2, 2},  {{100, 100, 103, 200}, true, 0, 1},
        {{100, 100, 104, 200}, true, 2, 2},  {{100, 100, 102, 102}, true, 0, 0},
        {{100, 100, 200, 200}, false, 2, 2}, {{100, 100, 200, 101}, false, 1, 0},
        {{100, 100, 200, 100}, true, 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        add_box(&page.rulings, cases[i].filled, &cases[i].box);
        rulings_merge(&page.rulings, PIECES_MAX);
        assert_int_equal(page.rulings.across.count, cases[i].across);
        assert_int_equal(page.rulings.down.count, cases[i].down);
        page_deinit(&page);
    }
}

/* Goal: a filled shape counts only when all its edges lie along an axis. Method: a triangle, a box with
 * a round corner, an L. */
static void test_only_shapes_along_the_axes_count(void **state)
{
    static const struct path_point triangle[] = {
        {100, 100, false}, {200, 100, true}, {200, 200, true}};
    static const struct path_point round[] = {
        {100, 100, false}, {190, 100, true}, {200, 110, false}, {200, 200, true}, {100, 200, true}};
    static const struct path_point ell[] = {{100, 100, false}, {200, 100, true}, {200, 150, true},
                                            {150, 150, true},  {150, 200, true}, {100, 200, true}};
    struct page page;

    (void)state;
    page_init(&page);
    rulings_add_fill(&page.rulings, &(struct path_part){.points = triangle, .count = 3});
    rulings_add_fill(&page.rulings, &(struct path_part){.points = round, .count = 5});
    rulings_add_fill(&page.rulings, &(struct path_part){.points = ell, .count = 1});
    rulings_add_stroke(&page.rulings, &(struct path_part){.points = ell, .count = 1});
    assert_int_equal(page.rulings.across.count + page.rulings.down.count, 0);
    rulings_add_fill(&page.rulings, &(struct path_part){.points = ell, .count = 6});
    assert_int_equal(page.rulings.across.count, 3);
    assert_int_equal(page.rulings.down.count, 3);
    /* Stroked, the straight edges beside a round corner count. */
    rulings_add_stroke(&page.rulings, &(struct path_part){.points = round, .count = 5});
    assert_int_equal(page.rulings.across.count, 5);
    assert_int_equal(page.rulings.down.count, 4);
    page_deinit(&page);
}

/* Goal: a box as large as the page is ignored and counted. Method: boxes of 97 and 98 per cent of
 * 600 by 800. */
static void test_box_of_the_page_is_ignored(void **state)
{
    static const struct area near = {9, 12, 591, 788};
    static const struct area over = {6, 8, 594, 792};
    static const struct area wide = {0, 100, 600, 200};
    struct page page;

    (void)state;
    page_init(&page);
    add_box(&page.rulings, true, &over);
    add_box(&page.rulings, false, &over);
    assert_int_equal(page.rulings.ignored, 2);
    assert_int_equal(page.rulings.across.count, 0);
    add_box(&page.rulings, true, &near);
    add_box(&page.rulings, true, &wide);
    assert_int_equal(page.rulings.ignored, 2);
    assert_int_equal(page.rulings.across.count, 4);
    page_deinit(&page);
}

/* Goal: pieces merge within 1.5 points of place and over gaps of 3. Method: two pieces for each
 * case. */
static void test_close_pieces_are_merged(void **state)
{
    static const struct {
        double at;
        double from;
        size_t count;
    } cases[] = {{300, 203, 1}, {300, 203.1, 2}, {301.5, 200, 1}, {301.6, 200, 2},
                 {300, 150, 1}, {298.5, 120, 1}, {298.4, 120, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        page_add_line(&page, 100, 300, 200, 300);
        page_add_line(&page, cases[i].from, cases[i].at, cases[i].from + 100, cases[i].at);
        page_add_line(&page, 300, 100, 300, 200);
        page_add_line(&page, cases[i].at, cases[i].from, cases[i].at, cases[i].from + 100);
        rulings_merge(&page.rulings, PIECES_MAX);
        assert_int_equal(page.rulings.across.count, cases[i].count);
        assert_int_equal(page.rulings.down.count, cases[i].count);
        if (cases[i].count == 1) {
            const struct ruling *merged = &page.rulings.across.items[0];

            assert_true(merged->from == 100 && merged->to == cases[i].from + 100);
            assert_true(fabs(merged->at - (300 + cases[i].at) / 2) < 1e-9);
        }
        page_deinit(&page);
    }
}

/* Goal: a line of dots is a ruling, a single dot is not. Method: forty dots of 1 point, 3 apart, in
 * both directions, and a single one. */
static void test_line_of_dots_is_a_ruling(void **state)
{
    struct page page;

    (void)state;
    page_init(&page);
    for (int i = 0; i < 40; i++) {
        struct area right = {100 + 4 * i, 100, 101 + 4 * i, 101};
        struct area below = {50, 200 + 4 * i, 51, 201 + 4 * i};

        add_box(&page.rulings, true, &right);
        add_box(&page.rulings, true, &below);
    }
    add_box(&page.rulings, true, &(struct area){400, 400, 401, 401});
    rulings_merge(&page.rulings, PIECES_MAX);
    assert_int_equal(page.rulings.across.count, 1);
    assert_true(page.rulings.across.items[0].from == 100 && page.rulings.across.items[0].to == 257);
    assert_int_equal(page.rulings.down.count, 1);
    page_deinit(&page);
}

/* Goal: rulings are clipped to the page. Method: lines beside, across and along the page's edge,
 * and places that are NaN. */
static void test_rulings_are_clipped_to_the_page(void **state)
{
    struct page page;

    (void)state;
    page_init(&page);
    page_add_line(&page, -100, 100, -10, 100);
    page_add_line(&page, 100, 900, 200, 900);
    page_add_line(&page, 100, -20, 200, -20);
    page_add_line(&page, NAN, 100, 200, 100);
    page_add_line(&page, 100, NAN, 200, NAN);
    page_add_line(&page, INFINITY, 50, INFINITY, 90);
    assert_int_equal(page.rulings.across.count + page.rulings.down.count, 0);
    page_add_line(&page, -100, 100, 50, 100);
    page_add_line(&page, 500, 200, 1e300, 200);
    page_add_line(&page, 100, 800, 200, 800);
    rulings_merge(&page.rulings, PIECES_MAX);
    assert_int_equal(page.rulings.across.count, 3);
    assert_true(page.rulings.across.items[0].from == 0 && page.rulings.across.items[0].to == 50);
    assert_true(page.rulings.across.items[1].to == 600);
    page_deinit(&page);
}

/* Goal: more rulings than the limit, and more pieces than the buffer holds, are a cut. Method: five
 * lines against limits of 5 and 4, and a piece too many. */
static void test_rulings_above_the_limit_are_cut(void **state)
{
    struct page page;

    (void)state;
    for (size_t limit = 4; limit <= 5; limit++) {
        page_init(&page);
        for (int i = 0; i < 5; i++) {
            page_add_line(&page, 100, 100 + 20 * i, 200, 100 + 20 * i);
        }
        rulings_merge(&page.rulings, limit);
        assert_int_equal(page.rulings.cut, limit == 4 ? PDF_CUT_RULINGS : PDF_CUT_NONE);
        page_deinit(&page);
    }
    page_init(&page);
    for (int i = 0; i < RULING_PIECES_MAX; i++) {
        page_add_line(&page, 100, 100, 200, 100);
    }
    assert_int_equal(page.rulings.cut, PDF_CUT_NONE);
    page_add_line(&page, 100, 100, 100, 200);
    assert_int_equal(page.rulings.cut, PDF_CUT_NONE);
    page_add_line(&page, 100, 100, 200, 100);
    assert_int_equal(page.rulings.cut, PDF_CUT_RULINGS);
    page_deinit(&page);
}

int run_rulings_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight_segment_is_a_ruling),
        cmocka_unit_test(test_thin_box_is_one_ruling_thick_box_four),
        cmocka_unit_test(test_only_shapes_along_the_axes_count),
        cmocka_unit_test(test_box_of_the_page_is_ignored),
        cmocka_unit_test(test_close_pieces_are_merged),
        cmocka_unit_test(test_line_of_dots_is_a_ruling),
        cmocka_unit_test(test_rulings_are_clipped_to_the_page),
        cmocka_unit_test(test_rulings_above_the_limit_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
