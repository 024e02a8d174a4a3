/*
 * tables_test.c: tables with rulings, and which tables count where they overlap. Each case is a
 * minimal table with one part removed.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A grid at 100, 100 with this many borders, `width` and `height` points apart. */
struct grid {
    int across;
    int down;
    double width;
    double height;
};

static void add_grid(struct page *page, const struct grid *grid)
{
    double right = 100 + grid->width * (grid->down - 1);
    double bottom = 100 + grid->height * (grid->across - 1);

    for (int i = 0; i < grid->across; i++) {
        page_add_line(page, 100, 100 + grid->height * i, right, 100 + grid->height * i);
    }
    for (int i = 0; i < grid->down; i++) {
        page_add_line(page, 100 + grid->width * i, 100, 100 + grid->width * i, bottom);
    }
}

/* Words in the cells of a grid. */
static void fill_grid(struct page *page, const struct grid *grid, int rows, int columns)
{
    for (int i = 0; i < rows * columns; i++) {
        int row = i / columns;

        page_add_word(page, 105 + grid->width * (i % columns), 104 + grid->height * row, "ab12");
    }
}

/* Goal: a lattice needs three vertical borders, two horizontal ones, 40 by 12 points and two rows
 * of cells. Method: grids around each of these bounds, with a word in every cell. */
static void test_lattice_needs_borders_size_and_rows(void **state)
{
    static const struct {
        struct grid grid;
        int rows;
        int columns;
        size_t tables;
    } cases[] = {
        {{3, 3, 60, 20}, 2, 2, 1}, {{2, 3, 60, 40}, 2, 2, 0}, /* one row of words */
        {{3, 2, 60, 20}, 2, 1, 0}, /* one column */
        {{3, 3, 20, 20}, 2, 2, 1}, {{3, 3, 19.9, 20}, 2, 2, 0}, /* 40 wide */
        {{3, 3, 60, 20}, 1, 2, 0}, {{3, 3, 60, 20}, 2, 1, 0}, /* empty parts */
        {{3, 3, 60, 20}, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        add_grid(&page, &cases[i].grid);
        fill_grid(&page, &cases[i].grid, cases[i].rows, cases[i].columns);
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, true), cases[i].tables);
        page_deinit(&page);
    }
}

/* Goal: two rows of words between two borders are enough, the box is around the borders, and rows and
 * cells are counted. Method: one tall row of a grid with two rows of words. */
static void test_lattice_box_is_around_its_borders(void **state)
{
    struct page page;
    const struct grid grid = {2, 4, 60, 40};

    (void)state;
    page_init(&page);
    add_grid(&page, &grid);
    for (int i = 0; i < 6; i++) {
        int row = i / 3;

        page_add_word(&page, 105 + 60 * (i % 3), 105 + 16 * row, "ab");
    }
    page_measure(&page);
    assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, true), 1);
    assert_int_equal(page.search.found.items[0].rows, 2);
    assert_int_equal(page.search.found.items[0].cells, 6);
    assert_true(page.search.found.items[0].box.x1 == 100 &&
                page.search.found.items[0].box.x2 == 280);
    assert_true(page.search.found.items[0].box.y1 == 100 &&
                page.search.found.items[0].box.y2 == 140);
    page_deinit(&page);
}

/* Goal: a lattice has at least 1.3 cells per row. Method: ten rows, three or two of which have two
 * cells. */
static void test_lattice_needs_cells_per_row(void **state)
{
    (void)state;
    for (int pairs = 2; pairs <= 3; pairs++) {
        struct page page;
        const struct grid grid = {11, 3, 60, 20};

        page_init(&page);
        add_grid(&page, &grid);
        fill_grid(&page, &grid, 10, 1);
        for (int i = 0; i < pairs; i++) {
            page_add_word(&page, 165, 104 + 20 * i, "cd");
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, false), pairs == 3);
        page_deinit(&page);
    }
}

/* Goal: a border connects two rulings, so ticks and double lines make no column; rulings separate
 * cells that are close. Method: a frame with a tick, with a double line, and with a border between
 * words 2 points apart. */
static void test_lattice_border_connects_two_rulings(void **state)
{
    static const struct {
        double x;
        double end;
        size_t tables;
    } cases[] = {{150, 110, 0}, {150, 136, 0}, {150, 137, 1}, {102.9, 140, 0}, {103.1, 140, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        const struct grid grid = {2, 2, 100, 40};

        page_init(&page);
        add_grid(&page, &grid);
        page_add_line(&page, cases[i].x, 100, cases[i].x, cases[i].end);
        for (int row = 0; row < 2; row++) {
            page_add_word(&page, 139, 105 + 16 * row, "ab");
            page_add_word(&page, 151, 105 + 16 * row, "cd");
            page_add_word(&page, 180, 105 + 16 * row, "ef");
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, true), cases[i].tables);
        if (cases[i].tables == 1) {
            assert_int_equal(page.search.found.items[0].cells, cases[i].x == 150 ? 6 : 4);
        }
        page_deinit(&page);
    }
}

/* Lines under each other with three words above each but the first. */
static void add_rules(struct page *page, int count, double distance, double length)
{
    for (int i = 0; i < count; i++) {
        page_add_line(page, 100, 100 + distance * i, 100 + length, 100 + distance * i);
    }
    for (int i = 0; i + 1 < count; i++) {
        page_add_word(page, 105, 104 + distance * i, "ab");
        page_add_word(page, 125, 104 + distance * i, "cd");
        page_add_word(page, 150, 104 + distance * i, "12");
    }
}

/* Goal: three rules of 80 points, at most 90 apart, with two rows of words are a table. Method:
 * both sides of each bound. */
static void test_three_rules_are_a_table(void **state)
{
    static const struct {
        int count;
        double distance;
        double length;
        size_t tables;
    } cases[] = {{3, 20, 100, 1},   {2, 20, 100, 0}, {3, 90, 100, 1},
                 {3, 90.1, 100, 0}, {3, 20, 80, 1},  {3, 20, 79.9, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        add_rules(&page, cases[i].count, cases[i].distance, cases[i].length);
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_RULES, true), cases[i].tables);
        assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, false), 0);
        page_deinit(&page);
    }
}

/* Goal: the rules of a table have one extent, within 3 points at both ends. Method: three rules,
 * the last moved or cut. */
static void test_rules_of_a_table_have_one_extent(void **state)
{
    static const struct {
        double from;
        double to;
        size_t tables;
    } cases[] = {{103, 203, 1}, {103.1, 200, 0}, {100, 203, 1}, {100, 203.1, 0}, {100, 196.9, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        add_rules(&page, 2, 20, 100);
        page_add_line(&page, cases[i].from, 140, cases[i].to, 140);
        for (int word = 0; word < 3; word++) {
            page_add_word(&page, 105 + 25 * word, 125, "12");
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_RULES, true), cases[i].tables);
        page_deinit(&page);
    }
}

/* Goal: a ruled table has a row of three cells, and two cells per row on average. Method: two and
 * three rows of words between rules. */
static void test_ruled_table_needs_cells_per_row(void **state)
{
    static const struct {
        int cells[3];
        size_t tables;
    } cases[] = {{{3, 3, 3}, 1}, {{2, 2, 2}, 0}, {{3, 2, 1}, 1},
                 {{3, 1, 1}, 0}, {{4, 1, 1}, 1}, {{6, 0, 0}, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;

        page_init(&page);
        for (int row = 0; row < 4; row++) {
            page_add_line(&page, 100, 100 + 20 * row, 300, 100 + 20 * row);
        }
        for (int row = 0; row < 3; row++) {
            for (int cell = 0; cell < cases[i].cells[row]; cell++) {
                page_add_word(&page, 105 + 30 * cell, 104 + 20 * row, "12");
            }
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_RULES, true), cases[i].tables);
        page_deinit(&page);
    }
}

/* Goal: the grid of a chart is not a table: up to the last band with text, under 35 per cent of at
 * least four bands have text; rows below the last one may be empty. Method: grids and rules with words
 * in some bands. */
static void test_grid_of_a_chart_is_not_a_table(void **state)
{
    static const struct {
        unsigned bands; /* bits of the bands with text */
        size_t tables;
    } cases[] = {{0x0007, 1}, {0x0005, 1}, {0x0009, 1}, {0x0101, 0},
                 {0x0103, 0}, {0x0083, 1}, {0x0203, 0}, {0x0207, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int ruled = 0; ruled < 2; ruled++) {
            struct page page;
            const struct grid grid = {13, ruled == 0 ? 4 : 0, 60, 20};

            page_init(&page);
            for (int line = 0; ruled == 1 && line < grid.across; line++) {
                page_add_line(&page, 100, 100 + 20 * line, 280, 100 + 20 * line);
            }
            if (ruled == 0) {
                add_grid(&page, &grid);
            }
            for (int band = 0; band < 12; band++) {
                for (int cell = 0; cell < 3 && (cases[i].bands >> band & 1) != 0; cell++) {
                    page_add_word(&page, 110 + 60 * cell, 105 + 20 * band, "12");
                }
            }
            page_measure(&page);
            assert_int_equal(
                page_count(&page, ruled == 1 ? PDF_TABLE_RULES : PDF_TABLE_LATTICE, false),
                cases[i].tables);
            page_deinit(&page);
        }
    }
}

/* Goal: rulings cross at most a fifth of the words of a table, and only the middle two fifths of a
 * word count. Method: a grid of ten words, two or three of which are over a vertical or horizontal
 * border, or touch it. */
static void test_rulings_may_cross_a_fifth_of_the_words(void **state)
{
    static const struct {
        double x; /* offset of the words */
        double y;
        int moved;
        size_t tables;
    } cases[] = {{0, 0, 0, 1},   {-15, 0, 2, 1},   {-15, 0, 3, 0}, {0, 11, 2, 1},   {0, 11, 3, 0},
                 {-11, 0, 3, 0}, {-10.9, 0, 3, 1}, {-19, 0, 3, 0}, {-19.1, 0, 3, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        const struct grid grid = {6, 3, 60, 20};

        page_init(&page);
        add_grid(&page, &grid);
        for (int word = 0; word < 10; word++) {
            int row = word / 2;
            bool moved = word % 2 == 1 && row < cases[i].moved;

            page_add_word(&page, 105 + 60 * (word % 2) + (moved ? cases[i].x : 0),
                          104 + 20 * row + (moved ? cases[i].y : 0), "Ab12");
        }
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, false), cases[i].tables);
        page_deinit(&page);
    }
}

/* Goal: boxes of a diagram are not a table: a table has a border as long as three fifths of the
 * width. Method: two boxes with words, joined by a line, and the same with a border along both. */
static void test_boxes_of_a_diagram_are_not_a_table(void **state)
{
    static const double ends[] = {190, 219.9, 220};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct page page;

        page_init(&page);
        for (int box = 0; box < 2; box++) {
            double x = 100 + 110 * box;

            page_add_line(&page, x, 100, i > 0 && box == 0 ? ends[i] : x + 90, 100);
            page_add_line(&page, x, 140, x + 90, 140);
            page_add_line(&page, x, 100, x, 140);
            page_add_line(&page, x + 90, 100, x + 90, 140);
            for (int row = 0; row < 2; row++) {
                page_add_word(&page, x + 10, 104 + 20 * row, "Ab");
            }
        }
        page_add_line(&page, 190, 120, 210, 120);
        page_measure(&page);
        assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, false), i == 0 ? 0 : 1);
        page_deinit(&page);
    }
}

static void add_table(struct table_search *search, enum pdf_table_kind kind, const struct area *box)
{
    tables_add(search, &(struct table){.kind = kind, .box = *box, .rows = 5, .cells = 15});
}

/* Goal: of two tables that share over a quarter of the smaller one the stronger kind counts, and of
 * one kind the larger table. Method: boxes of 100 by 100 that share 25 and 26 points of width. */
static void test_overlapping_tables_are_reduced_to_one(void **state)
{
    static const struct {
        enum pdf_table_kind first;
        enum pdf_table_kind second;
        double shared;
        size_t counted;
    } cases[] = {
        {PDF_TABLE_LATTICE, PDF_TABLE_RULES, 25, 2}, {PDF_TABLE_LATTICE, PDF_TABLE_RULES, 26, 1},
        {PDF_TABLE_RULES, PDF_TABLE_RULES, 25, 2},   {PDF_TABLE_RULES, PDF_TABLE_RULES, 26, 1},
        {PDF_TABLE_TEXT, PDF_TABLE_TEXT, 25, 2},     {PDF_TABLE_TEXT, PDF_TABLE_TEXT, 26, 1},
        {PDF_TABLE_LATTICE, PDF_TABLE_TEXT, 0, 1},   {PDF_TABLE_RULES, PDF_TABLE_TEXT, 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page page;
        size_t counted = 0;

        page_init(&page);
        page.search = (struct table_search){.arena = &page.arena};
        add_table(&page.search, cases[i].second,
                  &(struct area){200 - cases[i].shared, 100, 300 - cases[i].shared, 200});
        add_table(&page.search, cases[i].first, &(struct area){100, 100, 200, 210});
        tables_settle(&page.search);
        for (size_t j = 0; j < page.search.found.count; j++) {
            counted += page.search.found.items[j].counted;
        }
        assert_int_equal(counted, cases[i].counted);
        assert_true(page.search.found.items[0].counted);
        assert_int_equal(page.search.found.items[0].kind, cases[i].first);
        page_deinit(&page);
    }
}

/* Goal: a page with vertical text has the tables of the same page rotated back; words in the other
 * direction are ignored. Method: a lattice, rules and a line of words across them, rotated. */
static void test_rotated_page_has_the_same_tables(void **state)
{
    const struct grid grid = {4, 4, 60, 20};
    struct area boxes[2];

    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        struct page page;

        page_init(&page);
        add_grid(&page, &grid);
        fill_grid(&page, &grid, 3, 3);
        for (int i = 0; i < 4; i++) {
            /* A word along the side of the table. */
            struct page *other = &page;

            page_add_word_of_height(other, 85, 100 + 11 * i, 10, "x");
            other->glyphs_count--;
        }
        if (turned == 1) {
            page_turn(&page);
        }
        page_measure(&page);
        assert_int_equal(words_are_turned(page.words), turned);
        assert_int_equal(page_count(&page, PDF_TABLE_LATTICE, true), 1);
        assert_int_equal(page.search.found.items[0].rows, 3);
        assert_int_equal(page.search.found.items[0].cells, 9);
        boxes[turned] = page.search.found.items[0].box;
        page_deinit(&page);
    }
    assert_true(boxes[0].x1 == boxes[1].y1 && boxes[0].x2 == boxes[1].y2);
    assert_true(boxes[0].y1 == boxes[1].x1 && boxes[0].y2 == boxes[1].x2);
}

int run_tables_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattice_needs_borders_size_and_rows),
        cmocka_unit_test(test_lattice_box_is_around_its_borders),
        cmocka_unit_test(test_lattice_needs_cells_per_row),
        cmocka_unit_test(test_lattice_border_connects_two_rulings),
        cmocka_unit_test(test_three_rules_are_a_table),
        cmocka_unit_test(test_rules_of_a_table_have_one_extent),
        cmocka_unit_test(test_ruled_table_needs_cells_per_row),
        cmocka_unit_test(test_overlapping_tables_are_reduced_to_one),
        cmocka_unit_test(test_rotated_page_has_the_same_tables),
        cmocka_unit_test(test_grid_of_a_chart_is_not_a_table),
        cmocka_unit_test(test_rulings_may_cross_a_fifth_of_the_words),
        cmocka_unit_test(test_boxes_of_a_diagram_are_not_a_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
