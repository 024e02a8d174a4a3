/*
 * tables.c: finds the tables of a page: each kind in turn, strongest first, then which of
 * overlapping ones count. Also lookups of words in boxes, limited by the search's counter.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>
#include <stdlib.h>

/* Share of the smaller of two boxes; boxes with a larger overlap are the same table. */
#define OVERLAP_SHARE_MAX 0.25
/* Text-only tables with fewer rows are usually address or number blocks. */
#define TEXT_ROWS_MIN 5
#define FIRM_ROWS_MIN 3
#define BESIDE_RULED_ROWS_MIN 6
/* Rulings end this close to the rows that they separate. */
#define RULING_REACH 3.0
#define TABLES_CAPACITY_FIRST 16
/* The grid of a chart has at least this many bands, and text in a smaller share of them. */
#define CHART_BANDS_MIN 4
#define CHART_FILLED_SHARE 0.35
/* A ruling crosses a word if it is not in this share of the word from either side. In a table hardly
 * any word is crossed. */
#define CROSSED_INSIDE_SHARE 0.3
#define CROSSED_WORDS_SHARE_MAX 0.2

void tables_add(struct table_search *search, const struct table *table)
{
    struct table_list *found = &search->found;

    if (found->count == found->capacity) {
        size_t capacity = found->capacity == 0 ? TABLES_CAPACITY_FIRST : found->capacity * 2;
        struct table *items = arena_calloc(search->arena, capacity, sizeof *items);

        if (items == NULL) {
            search->cut = PDF_CUT_LIMIT;
            return;
        }
        if (found->count > 0) {
            memcpy(items, found->items, found->count * sizeof *items);
        }
        found->items = items;
        found->capacity = capacity;
    }
    found->items[found->count++] = *table;
}

bool tables_look(struct table_search *search, size_t count)
{
    if (search->cut != PDF_CUT_NONE) {
        return false;
    }
    if (count > search->looks_left) {
        search->cut = PDF_CUT_WORDS;
        return false;
    }
    search->looks_left -= count;
    return true;
}

/* Returns the first word whose middle is at or below y. */
static size_t find_word(const struct word_list *words, double y)
{
    size_t low = 0;
    size_t high = words->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (words->items[middle].middle < y) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Collects the words whose middle is in the box, in the search's room. */
static size_t pick_words(struct table_search *search, const struct area *box, size_t first,
                         size_t end)
{
    size_t count = 0;

    for (size_t i = first; i < end; i++) {
        const struct word *word = &search->words.items[i];
        double x = (word->box.x1 + word->box.x2) / 2;

        if (box->x1 <= x && x <= box->x2) {
            search->words_room[count++] = word;
        }
    }
    return count;
}

static size_t find_ruling(const struct ruling_list *down, double x)
{
    size_t low = 0;
    size_t high = down->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (down->items[middle].at <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns whether a ruling is between two words of a row. */
static bool is_parted(struct table_search *search, const struct ruling_list *down, size_t first,
                      const struct word *right)
{
    double x = (right->box.x1 + right->box.x2) / 2;

    for (size_t i = first; i < down->count && down->items[i].at < x; i++) {
        const struct ruling *ruling = &down->items[i];

        if (!tables_look(search, 1)) {
            return false;
        }
        if (ruling->from - RULING_REACH <= right->middle &&
            right->middle <= ruling->to + RULING_REACH) {
            return true;
        }
    }
    return false;
}

static size_t count_cells(struct table_search *search, const struct row *row,
                          const struct ruling_list *down)
{
    double gap = rows_wide_gap(row);
    double end = row->words[0]->box.x2;
    size_t count = 1;

    for (size_t i = 1; i < row->count; i++) {
        const struct word *left = row->words[i - 1];
        const struct word *right = row->words[i];
        size_t first = find_ruling(down, (left->box.x1 + left->box.x2) / 2);

        if (right->box.x1 - end > gap || is_parted(search, down, first, right)) {
            count++;
            end = right->box.x2;
        }
        end = fmax(end, right->box.x2);
    }
    return count;
}

bool tables_measure_box(struct table_search *search, const struct area *box,
                        const struct ruling_list *down, struct table_shape *ret_shape)
{
    size_t first = find_word(&search->words, box->y1);
    size_t end = find_word(&search->words, box->y2);
    struct table_shape shape = {0};
    size_t count = 0;

    if (end <= first) {
        *ret_shape = shape;
        return true;
    }
    if (!tables_look(search, end - first)) {
        return false;
    }
    count = pick_words(search, box, first, end);
    shape.words = count;
    shape.rows = rows_find(search->words_room, count, search->rows_room);
    for (size_t i = 0; i < shape.rows; i++) {
        size_t cells = count_cells(search, &search->rows_room[i], down);

        shape.cells += cells;
        shape.cells_of_widest_row =
            cells > shape.cells_of_widest_row ? cells : shape.cells_of_widest_row;
    }
    *ret_shape = shape;
    return search->cut == PDF_CUT_NONE;
}

/* Returns the first ruling at or after `at`. */
static size_t find_first_ruling(const struct ruling_list *list, double at)
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

/* Returns whether a ruling that is between `from` and `to` passes `middle`, which is along it. */
static bool is_passed(struct table_search *search, const struct ruling_list *list, double from,
                      double to, double middle)
{
    for (size_t i = find_first_ruling(list, from); i < list->count && list->items[i].at <= to;
         i++) {
        if (!tables_look(search, 1)) {
            return false;
        }
        if (list->items[i].from <= middle && middle <= list->items[i].to) {
            return true;
        }
    }
    return false;
}

bool tables_are_crossed(struct table_search *search, const struct table_shape *shape,
                        const struct ruling_list *across, const struct ruling_list *down)
{
    size_t crossed = 0;

    for (size_t i = 0; i < shape->words && search->cut == PDF_CUT_NONE; i++) {
        const struct area *box = &search->words_room[i]->box;
        double width = CROSSED_INSIDE_SHARE * (box->x2 - box->x1);
        double height = CROSSED_INSIDE_SHARE * (box->y2 - box->y1);

        crossed +=
            is_passed(search, down, box->x1 + width, box->x2 - width, (box->y1 + box->y2) / 2) ||
            is_passed(search, across, box->y1 + height, box->y2 - height, (box->x1 + box->x2) / 2);
    }
    return (double)crossed > CROSSED_WORDS_SHARE_MAX * (double)shape->words;
}

bool tables_is_chart(const struct table_search *search, const struct table_shape *shape,
                     const double *places, size_t places_count)
{
    size_t rows_count = shape->rows;
    size_t bands =
        0; /* number of bands up to the last one with text, since the rest of a form may be empty */
    size_t filled = 0;
    size_t row = 0;

    for (size_t i = 1; i < places_count; i++) {
        bool has_text = false;

        while (row < rows_count &&
               search->rows_room[row].y1 + search->rows_room[row].y2 < 2 * places[i]) {
            has_text = true;
            row++;
        }
        filled += has_text;
        bands = has_text ? i : bands;
    }
    return bands >= CHART_BANDS_MIN && (double)filled < CHART_FILLED_SHARE * (double)bands;
}

static double measure_area(const struct area *box)
{
    return (box->x2 - box->x1) * (box->y2 - box->y1);
}

static bool tables_overlap(const struct area *a, const struct area *b)
{
    double width = fmin(a->x2, b->x2) - fmax(a->x1, b->x1);
    double height = fmin(a->y2, b->y2) - fmax(a->y1, b->y1);

    return width > 0 && height > 0 &&
           width * height > OVERLAP_SHARE_MAX * fmin(measure_area(a), measure_area(b));
}

/* Compares by strength: kind, then size; then by place, so that the order is deterministic. */
static int compare_tables(const void *left, const void *right)
{
    const struct table *a = left;
    const struct table *b = right;
    double a_area = measure_area(&a->box);
    double b_area = measure_area(&b->box);

    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a_area != b_area) {
        return a_area > b_area ? -1 : 1;
    }
    if (a->box.y1 != b->box.y1) {
        return a->box.y1 < b->box.y1 ? -1 : 1;
    }
    return (a->box.x1 > b->box.x1) - (a->box.x1 < b->box.x1);
}

static bool is_weaker(const struct table_list *found, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (found->items[i].counted &&
            tables_overlap(&found->items[i].box, &found->items[index].box)) {
            return true;
        }
    }
    return false;
}

/* Returns whether a text-only table is large enough to count, on a page with a ruled table or one
 * without. */
static bool has_enough_rows(const struct table *table, bool ruled)
{
    if (ruled) {
        return table->firm && table->rows >= BESIDE_RULED_ROWS_MIN;
    }
    return table->rows >= (table->firm ? FIRM_ROWS_MIN : TEXT_ROWS_MIN);
}

void tables_settle(struct table_search *search)
{
    struct table_list *found = &search->found;
    bool ruled = false;

    if (found->count == 0) {
        return;
    }
    qsort(found->items, found->count, sizeof *found->items, compare_tables);
    for (size_t i = 0; i < found->count; i++) {
        struct table *table = &found->items[i];

        if (table->kind == PDF_TABLE_TEXT && !has_enough_rows(table, ruled)) {
            continue;
        }
        table->counted = !is_weaker(found, i);
        ruled = ruled || (table->counted && table->kind != PDF_TABLE_TEXT);
    }
}

static void find_kinds(struct table_search *search)
{
    tables_find_lattice(search);
    if (search->cut == PDF_CUT_NONE) {
        tables_find_rules(search);
    }
    if (search->cut == PDF_CUT_NONE) {
        tables_find_text(search);
    }
    if (search->cut == PDF_CUT_NONE) {
        tables_settle(search);
    }
}

void tables_find(struct table_search *search, struct arena *arena, struct word_list words,
                 const struct rulings *rulings)
{
    bool turned = words_are_turned(words);

    *search = (struct table_search){
        .arena = arena,
        .across = turned ? &rulings->down : &rulings->across,
        .down = turned ? &rulings->across : &rulings->down,
        .looks_left = TABLE_LOOKS_MAX,
        .cut = rulings->cut,
    };
    if (search->cut != PDF_CUT_NONE) {
        return;
    }
    search->words_room = arena_calloc(arena, words.count + 1, sizeof(struct word *));
    search->rows_room = arena_calloc(arena, words.count + 1, sizeof *search->rows_room);
    if (search->words_room == NULL || search->rows_room == NULL ||
        !words_pick(arena, words, turned, &search->words)) {
        search->cut = PDF_CUT_LIMIT;
        return;
    }
    find_kinds(search);
    for (size_t i = 0; turned && i < search->found.count; i++) {
        struct area *box = &search->found.items[i].box;

        *box = (struct area){box->y1, box->x1, box->y2, box->x2};
    }
}
