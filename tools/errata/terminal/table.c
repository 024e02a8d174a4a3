/*
 * table.c: see table.h.
 */
#include "tools/errata/terminal/table.h"

#include "store/base/assert.h"

/* Blanks between two columns. */
#define GAP 2

struct table_row {
    struct table_row *next;
    struct slice cells[TABLE_COLUMNS_MAX];
};

void table_init(struct table *table, struct arena *arena, const struct table_column *columns,
                size_t count)
{
    ASSERT(count <= TABLE_COLUMNS_MAX);
    *table = (struct table){.arena = arena, .columns = columns, .column_count = count};
}

bool table_add(struct table *table, const struct slice *cells)
{
    struct table_row *row = arena_calloc(table->arena, 1, sizeof(*row));

    if (row == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        row->cells[i] = print_clean(table->arena, cells[i]);
        if (row->cells[i].size == 0 && cells[i].size > 0) {
            return false;
        }
    }
    if (table->last == NULL) {
        table->first = row;
    } else {
        table->last->next = row;
    }
    table->last = row;
    table->row_count++;
    return true;
}

static void measure(const struct table *table, unsigned *widths)
{
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = print_width(slice_text(table->columns[i].title));
    }
    for (const struct table_row *row = table->first; row != NULL; row = row->next) {
        for (size_t i = 0; i < table->column_count; i++) {
            unsigned width = print_width(row->cells[i]);

            widths[i] = width > widths[i] ? width : widths[i];
        }
    }
}

static unsigned total_width(const struct table *table, const unsigned *widths)
{
    unsigned total = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        total += widths[i] + (i > 0 ? GAP : 0);
    }
    return total;
}

/* Takes one column of width from the widest that may be cut, as long as a row is too wide. */
static void fit(const struct table *table, unsigned width, unsigned *widths)
{
    unsigned total = total_width(table, widths);

    for (; total > width; total--) {
        size_t widest = table->column_count;

        for (size_t i = 0; i < table->column_count; i++) {
            bool may_cut = !table->columns[i].whole && widths[i] > TABLE_WIDTH_MIN;

            if (may_cut && (widest == table->column_count || widths[i] > widths[widest])) {
                widest = i;
            }
        }
        if (widest == table->column_count) {
            return;
        }
        widths[widest]--;
    }
}

static void print_cell(const struct table *table, struct printer *printer, struct slice cell,
                       size_t column, unsigned width, bool last)
{
    struct slice text = print_cut(table->arena, cell, width);
    unsigned blanks = width - print_width(text);
    bool right = table->columns[column].right;

    print_text(printer, "%*s%.*s%*s", right ? (int)blanks : 0, "", (int)text.size,
               (const char *)text.data, right || last ? 0 : (int)blanks, "");
    if (!last) {
        print_text(printer, "%*s", GAP, "");
    }
}

static void print_row(const struct table *table, struct printer *printer, const struct slice *cells,
                      const unsigned *widths)
{
    size_t count = table->column_count;

    /* Blanks at the end of a line help nobody. */
    while (count > 1 && cells[count - 1].size == 0) {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        print_cell(table, printer, cells[i], i, widths[i], i + 1 == count);
    }
    print_text(printer, "\n");
}

static void choose_widths(const struct table *table, const struct printer *printer,
                          unsigned *widths)
{
    measure(table, widths);
    if (printer->terminal) {
        fit(table, printer->width, widths);
    }
}

static void print_heading(const struct table *table, struct printer *printer,
                          const unsigned *widths)
{
    struct slice titles[TABLE_COLUMNS_MAX];

    for (size_t i = 0; i < table->column_count; i++) {
        titles[i] = slice_text(table->columns[i].title);
    }
    print_text(printer, "%s", printer->colour ? "\x1b[1m" : "");
    print_row(table, printer, titles, widths);
    print_text(printer, "%s", printer->colour ? "\x1b[0m" : "");
}

void table_print(const struct table *table, struct printer *printer)
{
    unsigned widths[TABLE_COLUMNS_MAX] = {0};

    if (table->row_count == 0) {
        return;
    }
    choose_widths(table, printer, widths);
    print_heading(table, printer, widths);
    table_print_rows(table, printer);
}

void table_print_rows(const struct table *table, struct printer *printer)
{
    unsigned widths[TABLE_COLUMNS_MAX] = {0};

    choose_widths(table, printer, widths);
    for (const struct table_row *row = table->first; row != NULL; row = row->next) {
        print_row(table, printer, row->cells, widths);
    }
}
