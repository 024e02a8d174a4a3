/*
 * prose.c: separates text in paragraphs from cells. In a justified line stretched spaces may be as
 * wide as the gap between two columns, but the lines above and below cover them. Lines below each
 * other that start together and mostly reach the same right edge are a paragraph.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>

/* Maximum rows in which the line above or below a cell is searched for; rows of other columns of
 * the page may be in between. */
#define ROWS_AWAY_MAX 3
/* A line further away, in heights of the row, is not of the same paragraph. */
#define PITCH_GAP_HEIGHTS_MAX 1.1
/* A space is stretched to this many heights at most. */
#define STRETCHED_HEIGHTS_MAX 5.0
/* The gap between two columns is free in two other lines, of those near the line, by this share of a
 * wide gap. A single cell that ends within this share of the line is not judged: it may be a heading
 * in a table. */
#define CORRIDOR_LINES 2
#define CORRIDOR_ROWS_MAX 6
#define FREE_SHARE_MIN 0.6
#define HEADING_SHARE_MAX 0.7
/* First lines may be indented by this many heights. */
#define INDENT_HEIGHTS_MAX 3.0
/* Lines of one paragraph differ in height by this factor at most. */
#define HEIGHT_FACTOR_MAX 1.4
/* A paragraph of a narrow column has three lines of three words. */
#define LINES_MIN 3
#define WORDS_PER_LINE_MIN 3.0
#define GLYPHS_PER_LINE_MIN 18.0
/* A line is full if its right end is within this share of the width of the paragraph. */
#define RAGGED_SHARE_MAX 0.22
#define FULL_LINES_SHARE_MIN 0.65
/* Lines after the first one mostly continue within a sentence; labels of rows begin with a capital. In
 * German every third word has one. */
#define LOWER_LINES_SHARE_MIN 0.4

static bool overlaps(const struct cell *a, const struct cell *b)
{
    return a->x1 < b->x2 && b->x1 < a->x2;
}

/* Returns the first cell of a line that ends after x. */
static size_t find_cell(const struct line *line, double x)
{
    size_t low = 0;
    size_t high = line->cells_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (line->cells[middle].x2 <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static double height_of(const struct line *line)
{
    return line->row->y2 - line->row->y1;
}

/* Returns the distance between two lines in either order. */
static double gap_between(const struct line *a, const struct line *b)
{
    return fmax(a->row->y1 - b->row->y2, b->row->y1 - a->row->y2);
}

static bool is_near(const struct line *a, const struct line *b)
{
    return gap_between(a, b) <= PITCH_GAP_HEIGHTS_MAX * height_of(a);
}

/* Returns the widest part of `gap` that no cell of the line covers; its x1 is not before x2 if
 * nothing remains. */
static struct cell find_free(const struct line *line, const struct cell *gap)
{
    struct cell widest = {.x1 = gap->x1, .x2 = gap->x1};
    double from = gap->x1;

    for (size_t i = find_cell(line, gap->x1); i < line->cells_count && from < gap->x2; i++) {
        double to = fmin(line->cells[i].x1, gap->x2);

        if (to - from > widest.x2 - widest.x1) {
            widest = (struct cell){.x1 = from, .x2 = to};
        }
        from = line->cells[i].x2;
    }
    if (gap->x2 - from > widest.x2 - widest.x1) {
        widest = (struct cell){.x1 = from, .x2 = gap->x2};
    }
    return widest;
}

/* The lines of a page during a search. */
struct page_lines {
    const struct line *items;
    size_t count;
};

/* Returns the nearest line above or below that has text over or under `span`; NULL if there is
 * none close by. */
static const struct line *find_near(struct page_lines lines, size_t at, bool above,
                                    const struct cell *span)
{
    for (size_t away = 1; away <= ROWS_AWAY_MAX; away++) {
        const struct line *line = NULL;
        size_t first = 0;

        if (above ? away > at : at + away >= lines.count) {
            return NULL;
        }
        line = &lines.items[above ? at - away : at + away];
        if (!is_near(&lines.items[at], line)) {
            return NULL;
        }
        first = find_cell(line, span->x1);
        if (first < line->cells_count && line->cells[first].x1 < span->x2) {
            return line;
        }
    }
    return NULL;
}

/* A gap between two cells of a line, and how far it continues above and below. */
struct corridor {
    struct cell span; /* span of the two cells */
    struct cell free; /* the part that is free in all lines so far */
    double needed; /* width */
    double heading_end; /* a single cell that ends before it is a heading */
    size_t lines; /* number of further lines */
    bool blocked; /* text covers it in later rows */
};

/* Follows a corridor up or down. */
static void follow_corridor(struct page_lines lines, size_t at, bool up, struct corridor *corridor)
{
    const struct line *before = &lines.items[at];

    for (size_t away = 1; away <= CORRIDOR_ROWS_MAX && corridor->lines < CORRIDOR_LINES; away++) {
        const struct line *line = NULL;
        struct cell free_part;
        size_t first = 0;

        if (up ? away > at : at + away >= lines.count) {
            return;
        }
        line = &lines.items[up ? at - away : at + away];
        if (!is_near(before, line)) {
            return;
        }
        first = find_cell(line, corridor->span.x1);
        if (first == line->cells_count || line->cells[first].x1 >= corridor->span.x2) {
            continue;
        }
        before = line;
        if (line->cells_count == 1 && line->cells[0].x2 < corridor->heading_end) {
            continue;
        }
        free_part = find_free(line, &corridor->free);
        if (free_part.x2 - free_part.x1 < corridor->needed) {
            corridor->blocked = true;
            return;
        }
        corridor->free = free_part;
        corridor->lines++;
    }
}

static bool is_number(const struct cell *cell)
{
    return cell->words == 1 && cell->has_digit;
}

/* Returns whether the gap after a cell is only a stretched space: text above or below covers it
 * before it is a few lines long. */
static bool is_stretched(struct page_lines lines, size_t at, const struct cell *left)
{
    const struct line *line = &lines.items[at];
    const struct cell *right = left + 1;
    double start = line->cells[0].x1;
    double end = line->cells[line->cells_count - 1].x2;
    struct corridor corridor = {
        .span = {.x1 = left->x1, .x2 = right->x2},
        .free = {.x1 = left->x2, .x2 = right->x1},
        .needed = FREE_SHARE_MIN * line->wide_gap,
        .heading_end = start + HEADING_SHARE_MAX * (end - start),
    };

    if (corridor.free.x2 - corridor.free.x1 > STRETCHED_HEIGHTS_MAX * height_of(line) ||
        is_number(left) || is_number(right)) {
        return false;
    }
    follow_corridor(lines, at, true, &corridor);
    follow_corridor(lines, at, false, &corridor);
    return corridor.blocked && corridor.lines < CORRIDOR_LINES;
}

static void add_cell(struct cell *cell, const struct cell *added)
{
    cell->x2 = fmax(cell->x2, added->x2);
    cell->words += added->words;
    cell->glyphs += added->glyphs;
    cell->number = WORD_NO_NUMBER;
    cell->has_digit = cell->has_digit || added->has_digit;
    cell->has_letter = cell->has_letter || added->has_letter;
    cell->is_field = added->is_field;
}

/* Joins the cells of a line before the gaps that are set in `stretched`. */
static void join_cells(struct line *line, const bool *stretched)
{
    size_t kept = 0;

    for (size_t i = 1; i < line->cells_count; i++) {
        if (stretched[i - 1]) {
            add_cell(&line->cells[kept], &line->cells[i]);
        } else {
            line->cells[++kept] = line->cells[i];
        }
    }
    line->cells_count = line->cells_count == 0 ? 0 : kept + 1;
}

bool prose_join_stretched(struct arena *arena, struct line *lines, size_t count)
{
    const struct page_lines page = {lines, count};
    size_t cells_count = 0;
    bool *stretched = NULL;

    for (size_t i = 0; i < count; i++) {
        cells_count += lines[i].cells_count;
    }
    stretched = arena_calloc(arena, cells_count + 1, sizeof *stretched);
    if (stretched == NULL) {
        return false;
    }
    /* All gaps are judged by the lines as they are before any is joined. */
    for (size_t i = 0, gap = 0; i < count; i++) {
        for (size_t j = 0; j < lines[i].cells_count; j++, gap++) {
            stretched[gap] =
                j + 1 < lines[i].cells_count && is_stretched(page, i, &lines[i].cells[j]);
        }
    }
    for (size_t i = 0, gap = 0; i < count; i++) {
        size_t before = lines[i].cells_count;

        join_cells(&lines[i], stretched + gap);
        gap += before;
    }
    return true;
}

/* ---- paragraphs ---- */

#define NO_CELL UINT32_MAX

/* A cell of the page, by its number from the first line on. */
struct place {
    uint32_t line;
    uint32_t next; /* the line below in its paragraph; NO_CELL: the last one */
    bool has_above;
    bool is_prose;
};

struct search {
    struct page_lines lines;
    struct place *places;
    const size_t *firsts; /* the number of each line's first cell */
};

static const struct cell *cell_at(const struct search *search, size_t number)
{
    size_t line = search->places[number].line;

    return &search->lines.items[line].cells[number - search->firsts[line]];
}

/* Returns the cell below that is the only one under this cell and has only this one above it. */
static uint32_t find_below(const struct search *search, size_t at, const struct cell *cell)
{
    const struct line *line = &search->lines.items[at];
    const struct line *below = find_near(search->lines, at, false, cell);
    double factor = 0;
    size_t index = 0;
    size_t above = 0;

    if (below == NULL) {
        return NO_CELL;
    }
    factor = height_of(line) / height_of(below);
    index = find_cell(below, cell->x1);
    above = find_cell(line, below->cells[index].x1);
    if (index + 1 < below->cells_count && overlaps(cell, &below->cells[index + 1])) {
        return NO_CELL;
    }
    if (&line->cells[above] != cell || (above + 1 < line->cells_count &&
                                        overlaps(&line->cells[above + 1], &below->cells[index]))) {
        return NO_CELL;
    }
    if (fabs(cell->x1 - below->cells[index].x1) > INDENT_HEIGHTS_MAX * height_of(line) ||
        !(factor <= HEIGHT_FACTOR_MAX && factor >= 1 / HEIGHT_FACTOR_MAX)) {
        return NO_CELL;
    }
    return (uint32_t)(search->firsts[below - search->lines.items] + index);
}

/* Marks the lines of a run, from the cell `first` down, if they are a paragraph. */
static void judge_run(struct search *search, uint32_t first)
{
    double left = INFINITY;
    double right = -INFINITY;
    double words = 0;
    double glyphs = 0;
    double lines = 0;
    double full = 0;
    double lower = 0;

    for (uint32_t i = first; i != NO_CELL; i = search->places[i].next) {
        const struct cell *cell = cell_at(search, i);

        left = fmin(left, cell->x1);
        right = fmax(right, cell->x2);
        words += (double)cell->words;
        glyphs += (double)cell->glyphs;
        lower += i != first && cell->starts_lower;
        lines++;
    }
    for (uint32_t i = first; search->places[i].next != NO_CELL; i = search->places[i].next) {
        full += right - cell_at(search, i)->x2 <= RAGGED_SHARE_MAX * (right - left);
    }
    if (lines < LINES_MIN || words < WORDS_PER_LINE_MIN * lines ||
        glyphs < GLYPHS_PER_LINE_MIN * lines || full < FULL_LINES_SHARE_MIN * (lines - 1) ||
        lower < LOWER_LINES_SHARE_MIN * (lines - 1)) {
        return;
    }
    for (uint32_t i = first; i != NO_CELL; i = search->places[i].next) {
        search->places[i].is_prose = true;
    }
}

static void link_cells(struct search *search)
{
    for (size_t i = 0; i < search->lines.count; i++) {
        const struct line *line = &search->lines.items[i];

        for (size_t j = 0; j < line->cells_count; j++) {
            struct place *place = &search->places[search->firsts[i] + j];

            place->line = (uint32_t)i;
            place->next = find_below(search, i, &line->cells[j]);
            if (place->next != NO_CELL && search->places[place->next].has_above) {
                place->next = NO_CELL;
            } else if (place->next != NO_CELL) {
                search->places[place->next].has_above = true;
            }
        }
    }
}

/* Moves the prose of a line after its other cells; `room` is for as many cells. */
static void sort_cells(struct line *line, const struct place *places, struct cell *room)
{
    size_t kept = 0;
    size_t prose = 0;

    for (size_t i = 0; i < line->cells_count; i++) {
        if (places[i].is_prose) {
            room[prose++] = line->cells[i];
        } else {
            line->cells[kept++] = line->cells[i];
        }
    }
    for (size_t i = 0; i < prose; i++) {
        line->cells[kept + i] = room[i];
    }
    line->cells_count = kept;
    line->prose_count = prose;
}

bool prose_set_apart(struct arena *arena, struct line *lines, size_t count)
{
    size_t *firsts = arena_calloc(arena, count + 1, sizeof *firsts);
    struct search search = {.lines = {lines, count}, .firsts = firsts};
    struct cell *room = NULL;
    size_t cells_count = 0;

    for (size_t i = 0; i < count && firsts != NULL; i++) {
        firsts[i] = cells_count;
        cells_count += lines[i].cells_count;
    }
    search.places = arena_calloc(arena, cells_count + 1, sizeof *search.places);
    room = arena_calloc(arena, cells_count + 1, sizeof *room);
    if (firsts == NULL || search.places == NULL || room == NULL) {
        return false;
    }
    link_cells(&search);
    for (size_t i = 0; i < cells_count; i++) {
        if (!search.places[i].has_above) {
            judge_run(&search, (uint32_t)i);
        }
    }
    for (size_t i = 0; i < count; i++) {
        sort_cells(&lines[i], search.places + firsts[i], room);
    }
    return true;
}
