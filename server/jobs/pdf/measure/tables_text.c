/*
 * tables_text.c: tables without rulings. Rows of a page are split into cells at wide gaps; a row is
 * linked to the next one below it whose cells align with its own, with at most two other rows in
 * between. A chain is a table if it has enough rows and columns, and short or numeric cells.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>

/* Limits for the next row of a table: distance in heights of the row, and other rows in between. */
#define GAP_HEIGHTS_MAX 2.6
#define ROWS_BETWEEN_MAX 2
/* Cells align by an edge or by their middles. */
#define SAME_EDGE_MAX 3.0
#define SAME_MIDDLE_MAX 2.5
#define SHARED_CELLS_MIN 2
#define SHARED_CELLS_SHARE_MIN 0.6
/* Rows needed with three columns or more ... */
#define ROWS_MIN 3
#define COLUMNS_MIN 3
#define WIDE_ROWS_SHARE_MIN 0.5
#define WORDS_PER_CELL_MAX 3.5
#define DIGIT_CELLS_SHARE_MIN 0.3
/* ... and with two. */
#define PAIR_ROWS_MIN 4
#define PAIR_DIGIT_CELLS_SHARE_MIN 0.35

#define NO_ROW SIZE_MAX

/* A row of the page and its place in a chain. */
struct link {
    const struct row *row;
    const struct cell *cells;
    size_t cells_count;
    size_t next; /* NO_ROW: the chain ends */
    bool chained; /* another row links to it */
};

static bool lines_up(const struct cell *a, const struct cell *b)
{
    return fabs(a->x1 - b->x1) <= SAME_EDGE_MAX || fabs(a->x2 - b->x2) <= SAME_EDGE_MAX ||
           fabs((a->x1 + a->x2) - (b->x1 + b->x2)) / 2 <= SAME_MIDDLE_MAX;
}

/* Counts cells of `a` that align with one of `b`; both are from left to right, and each cell of `b`
 * is used once. */
static size_t count_shared(const struct link *a, const struct link *b)
{
    size_t shared = 0;
    size_t at = 0;

    for (size_t i = 0; i < a->cells_count && at < b->cells_count; i++) {
        const struct cell *cell = &a->cells[i];
        size_t tried = 0;

        while (at < b->cells_count && b->cells[at].x2 + SAME_EDGE_MAX < cell->x1) {
            at++;
        }
        tried = at;
        while (tried < b->cells_count && b->cells[tried].x1 <= cell->x2 + SAME_EDGE_MAX) {
            if (lines_up(cell, &b->cells[tried])) {
                shared++;
                at = tried + 1;
                break;
            }
            tried++;
        }
    }
    return shared;
}

static bool row_follows(const struct link *above, const struct link *below)
{
    double height = above->row->y2 - above->row->y1;
    size_t fewer =
        above->cells_count < below->cells_count ? above->cells_count : below->cells_count;
    size_t shared = 0;

    if (below->row->y1 - above->row->y2 > GAP_HEIGHTS_MAX * height || fewer < SHARED_CELLS_MIN) {
        return false;
    }
    shared = count_shared(above, below);
    return shared >= SHARED_CELLS_MIN && (double)shared >= SHARED_CELLS_SHARE_MIN * (double)fewer;
}

static void chain_rows(struct link *links, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t end = i + 2 + ROWS_BETWEEN_MAX < count ? i + 2 + ROWS_BETWEEN_MAX : count;

        for (size_t j = i + 1; j < end; j++) {
            if (!links[j].chained && row_follows(&links[i], &links[j])) {
                links[i].next = j;
                links[j].chained = true;
                break;
            }
        }
    }
}

/* Totals of a chain of rows. */
struct chain {
    struct area box;
    size_t rows;
    size_t cells;
    size_t words;
    size_t digit_cells;
    size_t wide_rows; /* with at least COLUMNS_MIN cells */
};

static void add_row(struct chain *chain, const struct link *link)
{
    chain->rows++;
    chain->cells += link->cells_count;
    chain->wide_rows += link->cells_count >= COLUMNS_MIN;
    for (size_t i = 0; i < link->cells_count; i++) {
        const struct cell *cell = &link->cells[i];

        chain->words += cell->words;
        chain->digit_cells += cell->has_digit;
        chain->box.x1 = fmin(chain->box.x1, cell->x1);
        chain->box.x2 = fmax(chain->box.x2, cell->x2);
    }
    chain->box.y2 = fmax(chain->box.y2, link->row->y2);
}

static bool is_table(const struct chain *chain)
{
    double rows = (double)chain->rows;
    double cells = (double)chain->cells;
    double digit_share = (double)chain->digit_cells / cells;

    if (chain->rows >= ROWS_MIN && (double)chain->wide_rows >= WIDE_ROWS_SHARE_MIN * rows) {
        return (double)chain->words <= WORDS_PER_CELL_MAX * cells ||
               digit_share >= DIGIT_CELLS_SHARE_MIN;
    }
    return chain->rows >= PAIR_ROWS_MIN && digit_share >= PAIR_DIGIT_CELLS_SHARE_MIN;
}

static void try_chain(struct table_search *search, const struct link *links, size_t first)
{
    struct chain chain = {.box = {INFINITY, links[first].row->y1, -INFINITY, 0}};
    struct table table = {.kind = PDF_TABLE_TEXT};

    chain.box.y2 = links[first].row->y2;
    for (size_t i = first; i != NO_ROW; i = links[i].next) {
        add_row(&chain, &links[i]);
    }
    if (is_table(&chain)) {
        table.box = chain.box;
        table.rows = (uint32_t)chain.rows;
        table.cells = (uint32_t)chain.cells;
        tables_add(search, &table);
    }
}

void tables_find_text(struct table_search *search)
{
    size_t words_count = search->words.count;
    struct cell *cells = arena_calloc(search->arena, words_count + 1, sizeof *cells);
    struct link *links = NULL;
    size_t count = 0;

    for (size_t i = 0; i < words_count; i++) {
        search->words_room[i] = &search->words.items[i];
    }
    count = rows_find(search->words_room, words_count, search->rows_room);
    links = arena_calloc(search->arena, count + 1, sizeof *links);
    if (cells == NULL || links == NULL) {
        search->cut = PDF_CUT_LIMIT;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &search->rows_room[i];

        links[i] = (struct link){.row = row, .cells = cells, .next = NO_ROW};
        links[i].cells_count = rows_split(row, cells);
        cells += links[i].cells_count;
    }
    chain_rows(links, count);
    for (size_t i = 0; i < count; i++) {
        if (!links[i].chained && links[i].next != NO_ROW) {
            try_chain(search, links, i);
        }
    }
}
