/*
 * parts.h: what a page is made of, as plain values, and the pure functions over them: glyphs become
 * words and rows, drawn lines become rulings, both become tables. Knows nothing of Poppler or cairo;
 * every function gives the same result for the same input. Lengths are points, x from the left, y
 * from the top of the page as it is shown.
 *
 * Memory comes from the arena that is passed in; a false or NULL result says that there was no room.
 * Nothing here is quadratic in what a page can hold: things are sorted and swept, and what looks into
 * boxes draws on a budget that is counted.
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

/* As qsort wants it. */
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

struct word {
    struct area box;
    double middle; /* of y1 and y2 */
    uint32_t glyphs;
    bool turned; /* its glyphs are below each other; false of a single one */
    bool has_digit;
};

/* Sorted by `middle`, then x1. */
struct word_list {
    const struct word *items;
    size_t count;
};

/* Words side by side. */
struct row {
    const struct word **words; /* by x1; borrowed from the list */
    size_t count;
    double y1; /* mean of its words' */
    double y2;
};

/* Words of a row without a wide gap or a ruling between them. */
struct cell {
    double x1;
    double x2;
    size_t words;
    bool has_digit;
};

/* White space as Python's str.isspace has it. */
bool parts_is_space(uint32_t code_point);

/* The cells of one point of a page, and which of them glyphs cover. Empty on a page with a side over
 * COVERAGE_SIDE_MAX, which is not counted. */
#define COVERAGE_SIDE_MAX 4000
struct coverage {
    const uint8_t *bitmap; /* 1 where covered; line by line */
    int width;
    int height;
    uint64_t covered;
};

/* Each glyph's box is rounded to whole points, is at least one cell, and ends with the page. False
 * if there is no room. */
bool parts_measure_coverage(struct arena *arena, struct glyph_list glyphs,
                            struct pdf_page_size page, struct coverage *ret_coverage);

/* Glyphs up to white space. PDF_CUT_WORDS over `words_max`, PDF_CUT_LIMIT without room. */
enum pdf_cut parts_find_words(struct arena *arena, struct glyph_list glyphs, size_t words_max,
                              struct word_list *ret_words);

/* Most words of the page are turned: its text runs up or down. */
bool words_are_turned(struct word_list words);
/* The words that run one way; those that are turned with x and y exchanged, so that they run
 * across. Words of one glyph run either way. False if there is no room. */
bool words_pick(struct arena *arena, struct word_list words, bool turned,
                struct word_list *ret_words);

/* ---- rulings ---- */

/* A line across (at is y, from and to are x) or down (at is x). */
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
    uint32_t ignored; /* white, transparent, or around the whole page */
    enum pdf_cut cut; /* PDF_CUT_NONE, or why no more are taken */
};

struct path_point {
    double x;
    double y;
    bool straight; /* a straight line leads here from the point before; never on the first one */
};

/* One part of a path, without its own moves in between. */
struct path_part {
    const struct path_point *points;
    size_t count;
    bool closed; /* a straight line leads from the last point to the first */
};

/* Pieces before they are merged, each way: ten times what may be left of them. */
#define RULING_PIECES_MAX 200000

void rulings_init(struct rulings *rulings, struct arena *arena, struct pdf_page_size page);
void rulings_add_stroke(struct rulings *rulings, const struct path_part *part);
void rulings_add_fill(struct rulings *rulings, const struct path_part *part);
/* Pieces at the same place become one ruling, sorted by place; PDF_CUT_RULINGS over `rulings_max`
 * either way. */
void rulings_merge(struct rulings *rulings, size_t rulings_max);

/* Joins rulings that cross. `ret_groups` has a number for each ruling, those across first: the same
 * for all that hang together, the least index among them. */
bool rulings_find_groups(struct arena *arena, const struct ruling_list *across,
                         const struct ruling_list *down, uint32_t **ret_groups);

/* ---- tables ---- */

/* Words and rulings that the boxes of possible tables may be compared with, in sum. A page of 2,000
 * words and 50 boxes takes 100,000. */
#define TABLE_LOOKS_MAX 4000000

struct table {
    enum pdf_table_kind kind;
    struct area box;
    uint32_t rows;
    uint32_t cells;
    bool counted;
};

struct table_list {
    struct table *items;
    size_t count;
    size_t capacity;
};

/* What tables are looked for in, and what is found. */
struct table_search {
    struct arena *arena;
    struct word_list words;
    const struct ruling_list *across;
    const struct ruling_list *down;
    struct table_list found;
    uint64_t looks_left;
    enum pdf_cut cut; /* PDF_CUT_NONE, or why it was given up */
    /* Room for all words at once, used again for each box. */
    const struct word **words_room;
    struct row *rows_room;
};

/* Finds all tables of a page, whichever way most of its text runs; words that run the other way, such
 * as those along an axis, have no part in it. The rulings are merged. Words and rulings are borrowed. */
void tables_find(struct table_search *search, struct arena *arena, struct word_list words,
                 const struct rulings *rulings);

/* One kind each, for tables_find. */
void tables_find_lattice(struct table_search *search);
void tables_find_rules(struct table_search *search);
void tables_find_text(struct table_search *search);
/* Sets `counted`: the stronger kind where two overlap, text-only tables on pages without others. */
void tables_settle(struct table_search *search);
void tables_add(struct table_search *search, const struct table *table);

/* How much the words of a box look like a table. */
struct table_shape {
    size_t rows;
    size_t cells;
    size_t cells_of_widest_row;
};

/* Counts rows and cells among the words whose middle is in `box`. Rulings of `down`, sorted, part
 * cells as wide gaps do. False if the search was given up. */
bool tables_measure_box(struct table_search *search, const struct area *box,
                        const struct ruling_list *down, struct table_shape *ret_shape);

/* ---- rows and cells ---- */

/* Puts words, sorted as a word list is, into rows; `rows` has room for `count`. Returns the number
 * of rows; each borrows from `words`, which are sorted within it by x1. */
size_t rows_find(const struct word **words, size_t count, struct row *rows);
/* A gap between words of this row is wide above this. */
double rows_wide_gap(const struct row *row);
/* The cells of a row, at most as many as it has words, into `cells`; gives their number. */
size_t rows_split(const struct row *row, struct cell *cells);

#endif
