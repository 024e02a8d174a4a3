/*
 * parts.h: the parts of a page as plain values, and pure functions over them: glyphs form words and
 * rows, drawn lines form rulings, both form tables. Independent of Poppler and cairo; every
 * function is deterministic. Lengths are in points, x from the left, y from the top of the page as
 * displayed.
 * Memory comes from the arena that is passed in; a false or NULL result means that it is full. No
 * algorithm is quadratic in the size of a page: lists are sorted and swept, and lookups into boxes
 * are limited by a counter.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_MEASURE_PARTS_H
#define ERRATA_SERVER_JOBS_PDF_MEASURE_PARTS_H

#include "server/jobs/pdf/answer/pdf_answer.h"
#include "store/base/arena.h"

struct area {
    double x1;
    double y1;
    double x2;
    double y2;
};

/* A comparison for qsort. */
static inline int compare_doubles(double a, double b)
{
    return (a > b) - (a < b);
}

/* ---- text ---- */

struct glyph {
    struct area box;
    uint32_t code_point;
};

struct glyph_list {
    const struct glyph *items;
    size_t count;
};

#define WORD_NO_NUMBER UINT32_MAX

struct word {
    struct area box;
    double middle; /* mean of y1 and y2 */
    uint32_t glyphs;
    uint32_t number; /* the value of up to four digits without other glyphs; or WORD_NO_NUMBER */
    bool turned; /* its glyphs are stacked vertically; false for a single glyph */
    bool has_digit;
    bool has_letter;
    bool starts_lower; /* starts with a lower-case letter */
    bool is_leader; /* consists of dots that lead from a label to a number */
    bool is_bullet; /* a single glyph that starts a list item */
    bool is_marker; /* a bullet, or a dash, "3.", "b)" or "(iv)", which may be other things, too */
    bool is_field; /* ends with a colon, or is a line to write on */
};

/* Sorted by `middle`, then x1. */
struct word_list {
    const struct word *items;
    size_t count;
};

/* Words side by side. */
struct row {
    const struct word **words; /* sorted by x1; borrowed from the list */
    size_t count;
    double y1; /* mean y1 of its words */
    double y2;
};

/* Words of a row without a wide gap or a ruling between them. */
struct cell {
    double x1;
    double x2;
    size_t words;
    size_t glyphs;
    uint32_t number; /* number of its only word; or WORD_NO_NUMBER */
    bool has_digit;
    bool has_letter;
    bool starts_lower; /* its first word starts with a lower-case letter */
    bool is_field; /* its last word is a field */
};

/* Returns whether the code point is white space by Python's str.isspace. */
bool parts_is_space(uint32_t code_point);

/* The cells of one point of a page, and which of them glyphs cover. Empty for a page with a side
 * over COVERAGE_SIDE_MAX, which is not measured. */
#define COVERAGE_SIDE_MAX 4000
struct coverage {
    const uint8_t *bitmap; /* 1 for each covered cell; line by line */
    int width;
    int height;
    uint64_t covered;
};

/* Rounds each glyph's box to whole points, at least one cell, clipped to the page. False if the
 * arena is full. */
bool parts_measure_coverage(struct arena *arena, struct glyph_list glyphs,
                            struct pdf_page_size page, struct coverage *ret_coverage);

/* Splits glyphs into words at white space. PDF_CUT_WORDS above `words_max`, PDF_CUT_LIMIT if the
 * arena is full. */
enum pdf_cut parts_find_words(struct arena *arena, struct glyph_list glyphs, size_t words_max,
                              struct word_list *ret_words);

/* Returns whether most words of the page are turned: its text runs up or down. */
bool words_are_turned(struct word_list words);
/* Selects the words of one direction except leaders; turned ones with x and y exchanged, so that
 * they are horizontal. Words of one glyph belong to both directions. False if the arena is full. */
bool words_pick(struct arena *arena, struct word_list words, bool turned,
                struct word_list *ret_words);

/* ---- rulings ---- */

/* A horizontal line (`at` is y, `from` and `to` are x) or a vertical one (`at` is x). */
struct ruling {
    double at;
    double from;
    double to;
};

struct ruling_list {
    struct ruling *items;
    size_t count;
    size_t capacity;
};

struct rulings {
    struct arena *arena;
    struct pdf_page_size page;
    struct ruling_list across;
    struct ruling_list down;
    uint32_t ignored; /* rulings that are white, transparent, or around the whole page */
    enum pdf_cut cut; /* PDF_CUT_NONE, or the reason why no more are added */
};

struct path_point {
    double x;
    double y;
    bool straight; /* a straight line leads here from the previous point; never set for the first
                    * one */
};

/* A part of a path without moves inside. */
struct path_part {
    const struct path_point *points;
    size_t count;
    bool closed; /* a straight line leads from the last point to the first */
};

/* Maximum pieces before merging, in each direction: ten times the limit of merged ones. */
#define RULING_PIECES_MAX 200000

void rulings_init(struct rulings *rulings, struct arena *arena, struct pdf_page_size page);
void rulings_add_stroke(struct rulings *rulings, const struct path_part *part);
void rulings_add_fill(struct rulings *rulings, const struct path_part *part);
/* Merges pieces at the same place into one ruling, sorted by place; PDF_CUT_RULINGS above
 * `rulings_max` in a direction. */
void rulings_merge(struct rulings *rulings, size_t rulings_max);

/* Joins crossing rulings. `ret_groups` has a number for each ruling, horizontal ones first: the
 * same for all connected ones, the least index among them. */
bool rulings_find_groups(struct arena *arena, const struct ruling_list *across,
                         const struct ruling_list *down, uint32_t **ret_groups);

/* ---- tables ---- */

/* Total comparisons of words and rulings with the boxes of possible tables, and of columns with
 * those of other parts of a table. A page of 2,000 words and 50 boxes takes 100,000. */
#define TABLE_LOOKS_MAX 4000000

struct table {
    enum pdf_table_kind kind;
    struct area box;
    uint32_t rows;
    uint32_t cells;
    bool firm; /* a page with almost only text in many columns, most of them numeric */
    bool counted;
};

struct table_list {
    struct table *items;
    size_t count;
    size_t capacity;
};

/* Input and result of a search for tables. */
struct table_search {
    struct arena *arena;
    struct word_list words;
    const struct ruling_list *across;
    const struct ruling_list *down;
    struct table_list found;
    uint64_t looks_left;
    enum pdf_cut cut; /* PDF_CUT_NONE, or the reason for stopping */
    /* Room for all words at once, reused for each box. */
    const struct word **words_room;
    struct row *rows_room;
};

/* Finds all tables of a page in the direction of most of its text; words of the other direction,
 * such as those along an axis, are ignored. The rulings must be merged. Words and rulings are
 * borrowed. */
void tables_find(struct table_search *search, struct arena *arena, struct word_list words,
                 const struct rulings *rulings);

/* Find one kind each, for tables_find. */
void tables_find_lattice(struct table_search *search);
void tables_find_rules(struct table_search *search);
void tables_find_text(struct table_search *search);
/* Sets `counted`: of overlapping tables the stronger kind, and of text-only tables the larger ones;
 * beside a ruled table only firm ones. */
void tables_settle(struct table_search *search);
void tables_add(struct table_search *search, const struct table *table);
/* Takes from the limit of comparisons; false, and the search is stopped, if too few are left. */
bool tables_look(struct table_search *search, size_t count);

/* Properties of the words in a box that indicate a table. */
struct table_shape {
    size_t words;
    size_t rows;
    size_t cells;
    size_t cells_of_widest_row;
};

/* Counts rows and cells among the words whose middle is in `box`. Rulings of `down`, sorted,
 * separate cells as wide gaps do. False if the search was stopped. */
bool tables_measure_box(struct table_search *search, const struct area *box,
                        const struct ruling_list *down, struct table_shape *ret_shape);

/* Both judge the words and rows of the last tables_measure_box, whose result is `shape`. */
/* Returns whether rulings at these sorted places are the grid of a chart: few of the bands between them have text. */
bool tables_is_chart(const struct table_search *search, const struct table_shape *shape,
                     const double *places, size_t places_count);
/* Returns whether rulings, sorted, cross many of the words, as those of a chart cross its labels.
 * False, too, if the search was stopped. */
bool tables_are_crossed(struct table_search *search, const struct table_shape *shape,
                        const struct ruling_list *across, const struct ruling_list *down);

/* ---- rows and cells ---- */

/* Groups words, sorted like a word list, into rows; `rows` has room for `count`. Returns the number
 * of rows; each borrows from `words`, which are sorted within it by x1. */
size_t rows_find(const struct word **words, size_t count, struct row *rows);
/* Returns the width above which a gap between words of this row is wide. */
double rows_wide_gap(const struct row *row);
/* Splits a row into cells, at most as many as it has words; returns their number. A marker of a
 * list belongs to the text after it. */
size_t rows_split(const struct row *row, struct cell *cells);

/* A row and its cells, from left to right: first those that may be of a table, then the lines of
 * paragraphs. */
struct line {
    const struct row *row;
    double wide_gap; /* rows_wide_gap */
    struct cell *cells;
    size_t cells_count;
    size_t prose_count;
};

/* Joins cells that only a stretched space separates: one that the lines above and below cover. False
 * if the arena is full. */
bool prose_join_stretched(struct arena *arena, struct line *lines, size_t count);
/* Finds lines of paragraphs, and moves them after the other cells of their row. False if the arena
 * is full. */
bool prose_set_apart(struct arena *arena, struct line *lines, size_t count);

#endif
