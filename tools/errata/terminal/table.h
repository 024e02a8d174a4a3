/*
 * table.h: rows of text in aligned columns under a heading. On a terminal, columns without a value
 * are left out, and where a row does not fit the extra ones too; then the widest are cut. Elsewhere
 * everything is printed whole.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_TABLE_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_TABLE_H

#include "tools/errata/terminal/print.h"

#define TABLE_COLUMNS_MAX 12
/* A column is not cut below this. */
#define TABLE_WIDTH_MIN 8

/* What a column loses where a row does not fit. */
enum table_cut {
    TABLE_CUT_END,
    TABLE_CUT_FRONT, /* paths, which are told apart by their ends */
    TABLE_NEVER_CUT /* ids that people copy */
};

struct table_column {
    const char *title;
    bool right; /* numbers */
    enum table_cut cut;
    bool extra; /* left out first, the last one before the others */
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

/* At most TABLE_COLUMNS_MAX columns. */
void table_init(struct table *table, struct arena *arena, const struct table_column *columns,
                size_t count);
/* Adds a row of one cell a column. Cells are cleaned and copied; false without memory. */
MUST_CHECK bool table_add(struct table *table, const struct slice *cells);
/* Prints all rows under their heading; nothing where there are none. */
void table_print(const struct table *table, struct printer *printer);
/* Prints all rows without a heading: of a list's second page. */
void table_print_rows(const struct table *table, struct printer *printer);

#endif
