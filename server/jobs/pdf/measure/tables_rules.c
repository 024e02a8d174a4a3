/*
 * tables_rules.c: tables that have only horizontal rulings, all of one extent, below each other
 * with text in between: lines under rows, or the edges of shaded rows.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>
#include <stdlib.h>

#define SAME_EXTENT_MAX 3.0
#define LENGTH_MIN 80.0
#define DISTANCE_MAX 90.0
#define RULES_MIN 3
#define ROWS_MIN 2
#define WIDEST_ROW_CELLS_MIN 3
#define CELLS_PER_ROW_MIN 2.0

static int compare_starts(const void *left, const void *right)
{
    const struct ruling *a = left;
    const struct ruling *b = right;
    int order = compare_doubles(a->from, b->from);

    if (order == 0) {
        order = compare_doubles(a->to, b->to);
    }
    return order != 0 ? order : compare_doubles(a->at, b->at);
}

static int compare_ends(const void *left, const void *right)
{
    const struct ruling *a = left;
    const struct ruling *b = right;

    return a->to != b->to ? compare_doubles(a->to, b->to) : compare_starts(left, right);
}

static int compare_places(const void *left, const void *right)
{
    const struct ruling *a = left;
    const struct ruling *b = right;

    return a->at != b->at ? compare_doubles(a->at, b->at) : compare_starts(left, right);
}

/* Tries rulings of one extent that are close enough to each other; `places` has room for the place
 * of each. */
static void try_run(struct table_search *search, const struct ruling *rules, size_t count,
                    double *places)
{
    static const struct ruling_list no_rulings = {0};
    struct table table = {.kind = PDF_TABLE_RULES};
    struct table_shape shape = {0};

    if (count < RULES_MIN) {
        return;
    }
    table.box = (struct area){rules[0].from, rules[0].at, rules[0].to, rules[count - 1].at};
    for (size_t i = 0; i < count; i++) {
        places[i] = rules[i].at;
        table.box.x1 = fmin(table.box.x1, rules[i].from);
        table.box.x2 = fmax(table.box.x2, rules[i].to);
    }
    if (!tables_measure_box(search, &table.box, &no_rulings, &shape)) {
        return;
    }
    if (shape.rows >= ROWS_MIN && shape.cells_of_widest_row >= WIDEST_ROW_CELLS_MIN &&
        (double)shape.cells >= CELLS_PER_ROW_MIN * (double)shape.rows &&
        !tables_is_chart(search, &shape, places, count)) {
        table.rows = (uint32_t)shape.rows;
        table.cells = (uint32_t)shape.cells;
        tables_add(search, &table);
    }
}

/* Splits rulings of one extent into runs at wide distances. */
static void try_extent(struct table_search *search, struct ruling *rules, size_t count,
                       double *places)
{
    size_t first = 0;

    qsort(rules, count, sizeof *rules, compare_places);
    for (size_t i = 1; i <= count; i++) {
        if (i == count || rules[i].at - rules[i - 1].at > DISTANCE_MAX) {
            try_run(search, rules + first, i - first, places);
            first = i;
        }
    }
}

/* Splits rulings that start together by where they end. */
static void try_start(struct table_search *search, struct ruling *rules, size_t count,
                      double *places)
{
    size_t first = 0;

    qsort(rules, count, sizeof *rules, compare_ends);
    for (size_t i = 1; i <= count; i++) {
        if (i == count || rules[i].to - rules[first].to > SAME_EXTENT_MAX) {
            try_extent(search, rules + first, i - first, places);
            first = i;
        }
    }
}

void tables_find_rules(struct table_search *search)
{
    const struct ruling_list *across = search->across;
    size_t count = 0;
    size_t first = 0;
    struct ruling *rules = arena_calloc(search->arena, across->count + 1, sizeof *rules);
    double *places = arena_calloc(search->arena, across->count + 1, sizeof *places);

    if (rules == NULL || places == NULL) {
        search->cut = PDF_CUT_LIMIT;
        return;
    }
    for (size_t i = 0; i < across->count; i++) {
        if (across->items[i].to - across->items[i].from >= LENGTH_MIN) {
            rules[count++] = across->items[i];
        }
    }
    if (count == 0) {
        return;
    }
    qsort(rules, count, sizeof *rules, compare_starts);
    for (size_t i = 1; i <= count; i++) {
        if (i == count || rules[i].from - rules[first].from > SAME_EXTENT_MAX) {
            try_start(search, rules + first, i - first, places);
            first = i;
        }
    }
}
