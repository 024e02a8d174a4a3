/*
 * table.h: rows of text in aligned columns under a heading. On a terminal, columns without a value
 * are omitted; if a row does not fit, some others are omitted and the widest are cut. Otherwise
 * everything is printed in full. A list in pages consists of several tables with one layout.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_TABLE_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_TABLE_H

#include "tools/errata/terminal/print.h"

#define TABLE_COLUMNS_MAX 12
/* Default minimum width of a column that may be cut. */
#define TABLE_WIDTH_MIN 8

/* Maximum width of a column that is reserved for later rows. */
#define TABLE_STRETCH_MAX 32

/* The part of a cell that is cut off if the row does not fit. */
enum table_cut {
    TABLE_CUT_END,
    TABLE_CUT_FRONT, /* for paths, which differ at their ends */
    TABLE_NEVER_CUT /* for ids, which people copy */
};

struct table_column {
    const char *title;
    bool right; /* numbers */
    enum table_cut cut;
    unsigned
        extra; /* columns with higher numbers are omitted first if a row does not fit; 0: never omitted */
    /* Minimum width to which it is cut while other columns can be omitted (0: TABLE_WIDTH_MIN). For
     * a column that is never cut, its minimum width, so that later rows are aligned. */
    unsigned min;
    enum print_colour colour; /* default colour of its cells */
};

struct table_row;

struct table {
    struct arena *arena;
    const struct table_column *columns; /* borrowed */
    size_t column_count;
    struct table_row *first;
    struct table_row *last;
    size_t row_count;
};

/* Printed width of each column. Zero it before the first table of a list. */
struct table_layout {
    int widths[TABLE_COLUMNS_MAX]; /* -1: it is omitted */
    bool chosen;
    /* Set before the first table if more rows follow: columns that may be cut then take the
     * available room, up to TABLE_STRETCH_MAX. */
    bool stretched;
};

/* Initializes a table of at most TABLE_COLUMNS_MAX columns. */
void table_init(struct table *table, struct arena *arena, const struct table_column *columns,
                size_t count);
/* Adds a row with one cell per column. Cells are cleaned and copied; returns false if memory is
 * exhausted. */
MUST_CHECK bool table_add(struct table *table, const struct slice *cells);
/* Colours one cell of the row that was added last; or, with TABLE_COLUMNS_MAX, all of them. */
void table_colour(struct table *table, size_t column, enum print_colour colour);
/* Prints all rows under their heading; nothing if there are none. */
void table_print(struct table *table, struct printer *printer);
/* Prints one page of a list, with a heading for the first page and whenever the shown columns
 * change. Columns keep their widths, except ids that need more. */
void table_print_page(struct table *table, struct printer *printer, struct table_layout *layout);

#endif
