/*
 * tables_lattice.c: tables of crossing rulings. Connected rulings are a table if they separate the
 * words among them into rows and cells; that excludes address boxes and frames.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>
#include <stdlib.h>

#define DOWN_PLACES_MIN 3
#define ACROSS_PLACES_MIN 2
/* Rulings this close to each other are at one place: a double line. */
#define SAME_PLACE_MAX 3.0
/* The distance by which two rulings may miss each other and still cross. */
#define CROSSING_MAX 3.0
#define WIDTH_MIN 40.0
#define HEIGHT_MIN 12.0
#define LONG_RULING_SHARE_MIN 0.6
#define ROWS_MIN 2
#define WIDEST_ROW_CELLS_MIN 2
#define CELLS_PER_ROW_MIN 1.3

struct member {
    uint32_t group;
    uint32_t index; /* index in the concatenation of both lists, horizontal rulings first */
};

/* Connected rulings. */
struct group {
    struct ruling_list across;
    struct ruling_list down;
    double *places; /* positions; has room for all rulings */
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;

    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

/* Returns the first of a sorted list that is at `at` or after it. */
static size_t find_place(const struct ruling_list *list, double at)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->items[middle].at < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns whether the ruling runs from one of the others to another, unlike the tick of an axis. */
static bool is_border(const struct ruling *ruling, const struct ruling_list *others)
{
    size_t first = find_place(others, ruling->from - CROSSING_MAX);
    size_t end = find_place(others, nextafter(ruling->to + CROSSING_MAX, INFINITY));

    return end - first >= 2 && others->items[end - 1].at - others->items[first].at > SAME_PLACE_MAX;
}

/* Finds the places of borders of rows or columns; `places` has room for all rulings of the list. */
static size_t find_places(const struct ruling_list *list, const struct ruling_list *others,
                          double *places)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        double at = list->items[i].at;

        if ((count == 0 || at - places[count - 1] > SAME_PLACE_MAX) &&
            is_border(&list->items[i], others)) {
            places[count++] = at;
        }
    }
    return count;
}

/* Returns whether some ruling runs along most of the box; boxes of a diagram have only short ones. */
static bool has_long_ruling(const struct ruling_list *across, const struct area *box)
{
    for (size_t i = 0; i < across->count; i++) {
        if (across->items[i].to - across->items[i].from >=
            LONG_RULING_SHARE_MIN * (box->x2 - box->x1)) {
            return true;
        }
    }
    return false;
}

static struct area find_extents(const struct group *group)
{
    struct area box = {
        .x1 = group->down.items[0].at,
        .y1 = group->across.items[0].at,
        .x2 = group->down.items[group->down.count - 1].at,
        .y2 = group->across.items[group->across.count - 1].at,
    };

    for (size_t i = 0; i < group->across.count; i++) {
        box.x1 = fmin(box.x1, group->across.items[i].from);
        box.x2 = fmax(box.x2, group->across.items[i].to);
    }
    for (size_t i = 0; i < group->down.count; i++) {
        box.y1 = fmin(box.y1, group->down.items[i].from);
        box.y2 = fmax(box.y2, group->down.items[i].to);
    }
    return box;
}

static void try_group(struct table_search *search, const struct group *group)
{
    struct table table = {.kind = PDF_TABLE_LATTICE};
    struct table_shape shape = {0};
    size_t places_count = 0;

    if (find_places(&group->down, &group->across, group->places) < DOWN_PLACES_MIN) {
        return;
    }
    places_count = find_places(&group->across, &group->down, group->places);
    table.box = find_extents(group);
    if (places_count < ACROSS_PLACES_MIN || !has_long_ruling(&group->across, &table.box)) {
        return;
    }
    if (table.box.x2 - table.box.x1 < WIDTH_MIN || table.box.y2 - table.box.y1 < HEIGHT_MIN) {
        return;
    }
    if (!tables_measure_box(search, &table.box, &group->down, &shape)) {
        return;
    }
    if (shape.rows >= ROWS_MIN && shape.cells_of_widest_row >= WIDEST_ROW_CELLS_MIN &&
        (double)shape.cells >= CELLS_PER_ROW_MIN * (double)shape.rows &&
        !tables_is_chart(search, &shape, group->places, places_count) &&
        !tables_are_crossed(search, &shape, &group->across, &group->down)) {
        table.rows = (uint32_t)shape.rows;
        table.cells = (uint32_t)shape.cells;
        tables_add(search, &table);
    }
}

/* Visits the members of each group; `room` takes the rulings of one group, in their lists' order,
 * and `places` their places. */
static void try_members(struct table_search *search, const struct member *members, size_t count,
                        struct ruling *room, double *places)
{
    size_t across_count = search->across->count;
    size_t first = 0;

    while (first < count && search->cut == PDF_CUT_NONE) {
        struct group group = {.across = {.items = room}};
        size_t end = first;

        while (end < count && members[end].group == members[first].group) {
            uint32_t index = members[end].index;

            if (index < across_count) {
                room[end - first] = search->across->items[index];
                group.across.count++;
            } else {
                room[end - first] = search->down->items[index - across_count];
                group.down.count++;
            }
            end++;
        }
        group.down.items = room + group.across.count;
        group.places = places;
        try_group(search, &group);
        first = end;
    }
}

void tables_find_lattice(struct table_search *search)
{
    size_t count = search->across->count + search->down->count;
    uint32_t *groups = NULL;
    struct member *members = arena_calloc(search->arena, count + 1, sizeof *members);
    struct ruling *room = arena_calloc(search->arena, count + 1, sizeof *room);
    double *places = arena_calloc(search->arena, count + 1, sizeof *places);

    if (members == NULL || room == NULL || places == NULL ||
        !rulings_find_groups(search->arena, search->across, search->down, &groups)) {
        search->cut = PDF_CUT_LIMIT;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        members[i] = (struct member){.group = groups[i], .index = i};
    }
    qsort(members, count, sizeof *members, compare_members);
    try_members(search, members, count, room, places);
}
