/*
 * tables_text.c: tables without rulings. Rows of a page are split into cells at wide gaps, without the
 * lines of paragraphs (prose.c); a row is linked to the next one below it whose cells align with its
 * own, with at most two other rows in between. Chains of rows that have the same columns are joined
 * over blank rows and headings. A chain is a table if it has enough rows and columns, and short or
 * numeric cells, and is not a form, a table of contents, addresses, or text.
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

/* Parts of one table have the same columns. Between them are blank space, in rows' distances, and
 * headings, most of which are not as wide as the table. */
#define BLANK_PITCHES_MAX 2.6
#define HEADINGS_MAX 3
#define ROWS_INTERIOR_MAX 32 /* maximum number of rows of other page columns in between */
#define HEADING_WIDTH_SHARE_MAX 0.75
/* Number of heading rows that may be wider; more are allowed if all columns are equal. */
#define WIDE_HEADINGS_MAX 1
#define BLANK_HEIGHTS_MAX 4.5
/* Maximum chains above that a chain is compared with: other columns of a page have theirs in between. */
#define CHAINS_BACK_MAX 8
/* Chains whose rows take turns are one table if they share this part of the narrower one's width. */
#define INTERLEAVED_SHARE_MIN 0.5
/* Limits that exclude forms, tables of contents and adjacent addresses. */
#define FIELD_ROWS_SHARE_MAX 0.4
#define RISING_ROWS_SHARE_MIN 0.9
#define MIXED_ROWS_SHARE_MAX 0.15
#define PLAIN_ROWS_SHARE_MIN 0.35
#define LETTERED_CELLS_SHARE_MIN 0.8
/* Nor are parts of sentences, which have few digits. */
#define SENTENCE_DIGITS_SHARE_MAX 0.2
#define LOWER_CELLS_SHARE_MAX 0.5

#define FIRM_COLUMNS_MIN 4
#define FIRM_WIDE_ROWS_SHARE_MIN 0.8
#define FIRM_DIGIT_CELLS_SHARE_MIN 0.45

#define NO_ROW SIZE_MAX

/* A row of the page and its place in a chain. */
struct link {
    const struct row *row;
    const struct cell *cells;
    size_t cells_count;
    const struct cell *prose; /* cells of paragraph lines in the same row */
    size_t prose_count;
    size_t next; /* next row; NO_ROW: end of the chain */
    bool chained; /* another row links to this one */
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

/* Rows of one table, or of a part of one. */
struct chain {
    size_t first; /* first row; `next` links the others */
    size_t last;
    struct area box;
    size_t rows;
    size_t cells;
    size_t words;
    size_t digit_cells;
    size_t lettered_cells; /* number of those that also contain a letter */
    size_t lower_cells; /* number of those that start with a lower-case letter */
    size_t field_rows; /* number of rows with a form label or a line to write on */
    size_t wide_rows; /* number of rows with at least COLUMNS_MIN cells */
    size_t digit_rows; /* number of rows with a digit */
    size_t mixed_rows; /* number of rows with both a cell with a digit and a cell without */
    double heights; /* sum of the heights of all rows */
    /* Columns, from left to right: the cells of a row with the most of them, widened by other rows
     * with as many. */
    struct cell *columns;
    size_t columns_count;
};

struct chain_list {
    struct chain *items;
    size_t count;
};

static bool has_field(const struct link *link)
{
    for (size_t i = 0; i < link->cells_count; i++) {
        if (link->cells[i].is_field) {
            return true;
        }
    }
    return false;
}

/* Widens the columns by cells of another row or chain; there is room for the most cells of a row of
 * the chain. */
static void add_columns(struct chain *chain, const struct cell *cells, size_t count)
{
    if (count > chain->columns_count) {
        memcpy(chain->columns, cells, count * sizeof *cells);
        chain->columns_count = count;
        return;
    }
    for (size_t i = 0; i < count && count == chain->columns_count; i++) {
        struct cell *column = &chain->columns[i];

        if (column->x1 < cells[i].x2 && cells[i].x1 < column->x2) {
            column->x1 = fmin(column->x1, cells[i].x1);
            column->x2 = fmax(column->x2, cells[i].x2);
        }
    }
}

static void add_row(struct chain *chain, const struct link *link)
{
    size_t digits_before = chain->digit_cells;
    size_t digits = 0;

    chain->rows++;
    chain->cells += link->cells_count;
    chain->wide_rows += link->cells_count >= COLUMNS_MIN;
    chain->field_rows += has_field(link);
    chain->heights += link->row->y2 - link->row->y1;
    for (size_t i = 0; i < link->cells_count; i++) {
        const struct cell *cell = &link->cells[i];

        chain->words += cell->words;
        chain->digit_cells += cell->has_digit;
        chain->lettered_cells += cell->has_digit && cell->has_letter;
        chain->lower_cells += cell->starts_lower;
        chain->box.x1 = fmin(chain->box.x1, cell->x1);
        chain->box.x2 = fmax(chain->box.x2, cell->x2);
    }
    digits = chain->digit_cells - digits_before;
    chain->digit_rows += digits > 0;
    chain->mixed_rows += digits > 0 && digits < link->cells_count;
    chain->box.y1 = fmin(chain->box.y1, link->row->y1);
    chain->box.y2 = fmax(chain->box.y2, link->row->y2);
    add_columns(chain, link->cells, link->cells_count);
}

/* Joins the rows of two chains, in their order on the page. */
static void merge_rows(struct link *links, size_t a, size_t b)
{
    while (a != NO_ROW && b != NO_ROW) {
        size_t next = links[a].next;

        if (next == NO_ROW || next > b) {
            links[a].next = b;
            b = next;
        }
        a = links[a].next;
    }
}

/* Joins a chain that starts further down. */
static void add_chain(struct link *links, struct chain *chain, const struct chain *below)
{
    if (chain->last < below->first) {
        links[chain->last].next = below->first;
    } else {
        merge_rows(links, chain->first, below->first);
    }
    chain->last = below->last > chain->last ? below->last : chain->last;
    chain->rows += below->rows;
    chain->cells += below->cells;
    chain->words += below->words;
    chain->digit_cells += below->digit_cells;
    chain->lettered_cells += below->lettered_cells;
    chain->lower_cells += below->lower_cells;
    chain->field_rows += below->field_rows;
    chain->wide_rows += below->wide_rows;
    chain->digit_rows += below->digit_rows;
    chain->mixed_rows += below->mixed_rows;
    chain->heights += below->heights;
    chain->box.x1 = fmin(chain->box.x1, below->box.x1);
    chain->box.x2 = fmax(chain->box.x2, below->box.x2);
    chain->box.y1 = fmin(chain->box.y1, below->box.y1);
    chain->box.y2 = fmax(chain->box.y2, below->box.y2);
    if (below->columns_count > chain->columns_count) {
        chain->columns = below->columns;
        chain->columns_count = below->columns_count;
    } else {
        add_columns(chain, below->columns, below->columns_count);
    }
}

/* Counts the columns that two chains share. */
static size_t count_shared_columns(const struct chain *above, const struct chain *below)
{
    const struct link a = {.cells = above->columns, .cells_count = above->columns_count};
    const struct link b = {.cells = below->columns, .cells_count = below->columns_count};

    return count_shared(&a, &b);
}

static bool follows_chain(const struct chain *above, const struct chain *below)
{
    size_t fewer =
        above->columns_count < below->columns_count ? above->columns_count : below->columns_count;
    size_t shared = count_shared_columns(above, below);

    return shared >= SHARED_CELLS_MIN && (double)shared >= SHARED_CELLS_SHARE_MIN * (double)fewer;
}

static bool has_same_columns(const struct chain *above, const struct chain *below)
{
    size_t count = above->columns_count;

    return count >= COLUMNS_MIN && count == below->columns_count &&
           count_shared_columns(above, below) == count;
}

/* Returns the distance from row to row. */
static double pitch_of(const struct chain *chain)
{
    double height = chain->heights / (double)chain->rows;

    return chain->rows < 2 ? height
                           : (chain->box.y2 - chain->box.y1 - height) / (double)(chain->rows - 1);
}

static bool has_prose_in(const struct link *link, const struct area *box)
{
    for (size_t i = 0; i < link->prose_count; i++) {
        if (link->prose[i].x1 < box->x2 && box->x1 < link->prose[i].x2) {
            return true;
        }
    }
    return false;
}

/* Returns whether the rows between two chains may be blank, or headings of groups of rows. */
static bool is_interior(const struct link *links, const struct chain *above,
                        const struct chain *below)
{
    double pitch = fmax(pitch_of(above), pitch_of(below));
    double width = HEADING_WIDTH_SHARE_MAX * (above->box.x2 - above->box.x1);
    double height = above->heights / (double)above->rows;
    double free_space = below->box.y1 - above->box.y2;
    size_t headings = 0;
    size_t wide = 0;

    for (size_t i = above->last + 1; i < below->first; i++) {
        const struct link *link = &links[i];
        const struct cell *cell = link->cells;

        if (has_prose_in(link, &above->box)) {
            return false;
        }
        if (link->cells_count != 1 || cell->x2 < above->box.x1 || cell->x1 > above->box.x2) {
            continue;
        }
        wide += cell->x2 - cell->x1 > width;
        headings++;
        free_space -= pitch;
    }
    if (has_same_columns(above, below)) {
        return headings <= HEADINGS_MAX && wide <= WIDE_HEADINGS_MAX &&
               free_space <= fmax(BLANK_PITCHES_MAX * pitch, BLANK_HEIGHTS_MAX * height);
    }
    return headings <= HEADINGS_MAX && wide == 0 && free_space <= BLANK_PITCHES_MAX * pitch;
}

/* Returns whether a chain begins with a header of its own, after one that has numbers. */
static bool starts_new_part(const struct link *links, const struct chain *above,
                            const struct chain *below)
{
    const struct link *head = &links[below->first];

    if (above->digit_rows < ROWS_MIN || below->digit_rows < ROWS_MIN - 1 ||
        head->cells_count + 1 < above->columns_count ||
        head->cells_count + 1 < below->columns_count) {
        return false;
    }
    for (size_t i = 0; i < head->cells_count; i++) {
        if (head->cells[i].has_digit) {
            return false;
        }
    }
    return true;
}

/* Returns whether rows of the two chains take turns, over or under each other. */
static bool is_interleaved(const struct chain *above, const struct chain *below)
{
    double shared = fmin(above->box.x2, below->box.x2) - fmax(above->box.x1, below->box.x1);
    double narrower = fmin(above->box.x2 - above->box.x1, below->box.x2 - below->box.x1);

    return above->last > below->first && shared >= INTERLEAVED_SHARE_MIN * narrower;
}

/* Returns whether two chains are parts of one table: they have the same columns with only blank rows
 * or headings between them, or their rows take turns. */
static bool is_continued(struct table_search *search, const struct link *links,
                         const struct chain *above, const struct chain *below)
{
    if (is_interleaved(above, below)) {
        return tables_look(search, above->rows + below->rows);
    }
    if (above->last > below->first || below->first - above->last > ROWS_INTERIOR_MAX ||
        !tables_look(search, above->columns_count + below->columns_count)) {
        return false;
    }
    return follows_chain(above, below) && is_interior(links, above, below) &&
           !starts_new_part(links, above, below);
}

static void join_chains(struct table_search *search, struct link *links, struct chain_list *chains)
{
    size_t kept = 0;

    for (size_t i = 0; i < chains->count && search->cut == PDF_CUT_NONE; i++) {
        const struct chain *below = &chains->items[i];
        bool joined = false;

        for (size_t back = 1; back <= CHAINS_BACK_MAX && back <= kept && !joined; back++) {
            struct chain *above = &chains->items[kept - back];

            joined = is_continued(search, links, above, below);
            if (joined) {
                add_chain(links, above, below);
            }
        }
        if (!joined) {
            chains->items[kept++] = *below;
        }
    }
    chains->count = kept;
}

/* Returns whether the rows are a table of contents: the last cell of each is a page number, not
 * below the one before. */
static bool is_contents(const struct link *links, const struct chain *chain)
{
    uint32_t first = WORD_NO_NUMBER;
    uint32_t page = 0;
    size_t rising = 0;

    for (size_t i = chain->first; i != NO_ROW; i = links[i].next) {
        const struct cell *last = &links[i].cells[links[i].cells_count - 1];

        if (last->number != WORD_NO_NUMBER && last->number >= page) {
            rising++;
            page = last->number;
            first = first == WORD_NO_NUMBER ? page : first;
        }
    }
    return chain->columns_count == 2 && page > first &&
           (double)rising >= RISING_ROWS_SHARE_MIN * (double)chain->rows;
}

/* Returns whether the rows are addresses or entries of an index beside each other: either all cells
 * of a row have digits, or none has, and there are rows without digits or text with the digits. In a
 * table, columns are alike, not rows. */
static bool is_directory(const struct chain *chain)
{
    double rows = (double)chain->rows;

    return chain->digit_rows > 0 && (double)chain->mixed_rows <= MIXED_ROWS_SHARE_MAX * rows &&
           ((double)(chain->rows - chain->digit_rows) >= PLAIN_ROWS_SHARE_MIN * rows ||
            (double)chain->lettered_cells >= LETTERED_CELLS_SHARE_MIN * (double)chain->cells);
}

/* Returns whether the cells are parts of sentences: most continue with a lower-case letter. */
static bool is_sentences(const struct chain *chain)
{
    double cells = (double)chain->cells;

    return (double)chain->digit_cells < SENTENCE_DIGITS_SHARE_MAX * cells &&
           (double)chain->lower_cells > LOWER_CELLS_SHARE_MAX * cells;
}

static bool is_table(const struct link *links, const struct chain *chain)
{
    double rows = (double)chain->rows;
    double cells = (double)chain->cells;
    double digit_share = (double)chain->digit_cells / cells;

    if ((double)chain->field_rows > FIELD_ROWS_SHARE_MAX * rows || is_contents(links, chain) ||
        is_directory(chain) || is_sentences(chain)) {
        return false;
    }
    if (chain->rows >= ROWS_MIN && (double)chain->wide_rows >= WIDE_ROWS_SHARE_MIN * rows) {
        return (double)chain->words <= WORDS_PER_CELL_MAX * cells ||
               digit_share >= DIGIT_CELLS_SHARE_MIN;
    }
    return chain->rows >= PAIR_ROWS_MIN && digit_share >= PAIR_DIGIT_CELLS_SHARE_MIN;
}

static bool is_firm(const struct chain *chain)
{
    return chain->columns_count >= FIRM_COLUMNS_MIN &&
           (double)chain->wide_rows >= FIRM_WIDE_ROWS_SHARE_MIN * (double)chain->rows &&
           (double)chain->digit_cells >= FIRM_DIGIT_CELLS_SHARE_MIN * (double)chain->cells;
}

/* Makes a chain of each row that no other links to, and the rows after it. */
static bool list_chains(struct arena *arena, const struct link *links, size_t count,
                        struct chain_list *ret_chains)
{
    struct chain_list chains = {.items = arena_calloc(arena, count + 1, sizeof *chains.items)};

    for (size_t i = 0; i < count && chains.items != NULL; i++) {
        struct chain *chain = &chains.items[chains.count];
        size_t most = 0;

        if (links[i].chained || links[i].cells_count < SHARED_CELLS_MIN) {
            continue;
        }
        *chain = (struct chain){.first = i, .box = {INFINITY, INFINITY, -INFINITY, -INFINITY}};
        for (size_t row = i; row != NO_ROW; row = links[row].next) {
            most = links[row].cells_count > most ? links[row].cells_count : most;
        }
        chain->columns = arena_calloc(arena, most + 1, sizeof *chain->columns);
        if (chain->columns == NULL) {
            return false;
        }
        for (size_t row = i; row != NO_ROW; row = links[row].next) {
            add_row(chain, &links[row]);
            chain->last = row;
        }
        chains.count++;
    }
    *ret_chains = chains;
    return chains.items != NULL;
}

/* Finds the rows of the page, their cells, and which of these are prose. */
static bool list_links(struct table_search *search, struct link **ret_links, size_t *ret_count)
{
    size_t words_count = search->words.count;
    struct cell *cells = arena_calloc(search->arena, words_count + 1, sizeof *cells);
    struct line *lines = NULL;
    struct link *links = NULL;
    size_t count = 0;

    for (size_t i = 0; i < words_count; i++) {
        search->words_room[i] = &search->words.items[i];
    }
    count = rows_find(search->words_room, words_count, search->rows_room);
    lines = arena_calloc(search->arena, count + 1, sizeof *lines);
    links = arena_calloc(search->arena, count + 1, sizeof *links);
    if (cells == NULL || lines == NULL || links == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        lines[i] = (struct line){.row = &search->rows_room[i],
                                 .wide_gap = rows_wide_gap(&search->rows_room[i]),
                                 .cells = cells};
        lines[i].cells_count = rows_split(lines[i].row, cells);
        cells += lines[i].cells_count;
    }
    if (!prose_join_stretched(search->arena, lines, count) ||
        !prose_set_apart(search->arena, lines, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct line *line = &lines[i];

        links[i] = (struct link){.row = line->row,
                                 .cells = line->cells,
                                 .cells_count = line->cells_count,
                                 .prose = line->cells + line->cells_count,
                                 .prose_count = line->prose_count,
                                 .next = NO_ROW};
    }
    *ret_links = links;
    *ret_count = count;
    return true;
}

void tables_find_text(struct table_search *search)
{
    struct link *links = NULL;
    struct chain_list chains = {0};
    size_t count = 0;

    if (!list_links(search, &links, &count)) {
        search->cut = PDF_CUT_LIMIT;
        return;
    }
    chain_rows(links, count);
    if (!list_chains(search->arena, links, count, &chains)) {
        search->cut = PDF_CUT_LIMIT;
        return;
    }
    join_chains(search, links, &chains);
    for (size_t i = 0; i < chains.count && search->cut == PDF_CUT_NONE; i++) {
        const struct chain *chain = &chains.items[i];

        if (is_table(links, chain)) {
            tables_add(search, &(struct table){.kind = PDF_TABLE_TEXT,
                                               .box = chain->box,
                                               .rows = (uint32_t)chain->rows,
                                               .cells = (uint32_t)chain->cells,
                                               .firm = is_firm(chain)});
        }
    }
}
