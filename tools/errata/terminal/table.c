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

/* How wide each column is printed; -1 for one that is left out. */
struct layout {
    int widths[TABLE_COLUMNS_MAX];
};

static int text_width(struct slice text)
{
    return (int)print_width(text);
}

/* Natural widths; on a terminal a column without a value is left out. */
static struct layout measure(const struct table *table, const struct printer *printer)
{
    struct layout layout;

    for (size_t i = 0; i < table->column_count; i++) {
        layout.widths[i] = printer->terminal ? -1 : 0;
    }
    for (const struct table_row *row = table->first; row != NULL; row = row->next) {
        for (size_t i = 0; i < table->column_count; i++) {
            int width = text_width(row->cells[i]);

            if (width > layout.widths[i] && width > 0) {
                layout.widths[i] = width;
            }
        }
    }
    for (size_t i = 0; i < table->column_count; i++) {
        int title = text_width(slice_text(table->columns[i].title));

        if (layout.widths[i] >= 0 && layout.widths[i] < title) {
            layout.widths[i] = title;
        }
    }
    return layout;
}

/* The width of a row, with all that may be cut as narrow as it gets where `narrowest`. */
static int row_width(const struct table *table, const struct layout *layout, bool narrowest)
{
    int total = -GAP;

    for (size_t i = 0; i < table->column_count; i++) {
        int width = layout->widths[i];

        if (narrowest && table->columns[i].cut != TABLE_NEVER_CUT && width > TABLE_WIDTH_MIN) {
            width = TABLE_WIDTH_MIN;
        }
        total += width >= 0 ? width + GAP : 0;
    }
    return total;
}

/* Leaves extra columns out, from the right, as long as cutting alone would not do. */
static void leave_out(const struct table *table, int width, struct layout *layout)
{
    for (size_t i = table->column_count; i-- > 0 && row_width(table, layout, true) > width;) {
        if (table->columns[i].extra) {
            layout->widths[i] = -1;
        }
    }
}

/* Takes one column of width from the widest that may be cut, as long as a row is too wide. */
static void cut(const struct table *table, int width, struct layout *layout)
{
    for (int total = row_width(table, layout, false); total > width; total--) {
        size_t widest = table->column_count;

        for (size_t i = 0; i < table->column_count; i++) {
            bool may_cut =
                table->columns[i].cut != TABLE_NEVER_CUT && layout->widths[i] > TABLE_WIDTH_MIN;

            if (may_cut &&
                (widest == table->column_count || layout->widths[i] > layout->widths[widest])) {
                widest = i;
            }
        }
        if (widest == table->column_count) {
            return;
        }
        layout->widths[widest]--;
    }
}

static struct layout choose_layout(const struct table *table, const struct printer *printer)
{
    struct layout layout = measure(table, printer);

    if (printer->terminal) {
        leave_out(table, (int)printer->width, &layout);
        cut(table, (int)printer->width, &layout);
    }
    return layout;
}

static void print_row(const struct table *table, struct printer *printer, const struct slice *cells,
                      const struct layout *layout)
{
    int owed = 0; /* blanks before the next cell: none at the end of a line */

    for (size_t i = 0; i < table->column_count; i++) {
        int width = layout->widths[i];
        struct slice text = {NULL, 0};
        int blanks = 0;

        if (width < 0) {
            continue;
        }
        text = table->columns[i].cut == TABLE_CUT_FRONT
                   ? print_cut_front(table->arena, cells[i], (unsigned)width)
                   : print_cut(table->arena, cells[i], (unsigned)width);
        blanks = width - text_width(text);
        owed += table->columns[i].right ? blanks : 0;
        if (text.size > 0) {
            print_text(printer, "%*s%.*s", owed, "", (int)text.size, (const char *)text.data);
            owed = 0;
        }
        owed += GAP + (table->columns[i].right ? 0 : blanks);
    }
    print_text(printer, "\n");
}

static void print_rows(const struct table *table, struct printer *printer,
                       const struct layout *layout)
{
    for (const struct table_row *row = table->first; row != NULL; row = row->next) {
        print_row(table, printer, row->cells, layout);
    }
}

void table_print(const struct table *table, struct printer *printer)
{
    struct layout layout = choose_layout(table, printer);
    struct slice titles[TABLE_COLUMNS_MAX];

    if (table->row_count == 0) {
        return;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        titles[i] = slice_text(table->columns[i].title);
    }
    print_text(printer, "%s", printer->colour ? "\x1b[1m" : "");
    print_row(table, printer, titles, &layout);
    print_text(printer, "%s", printer->colour ? "\x1b[0m" : "");
    print_rows(table, printer, &layout);
}

void table_print_rows(const struct table *table, struct printer *printer)
{
    struct layout layout = choose_layout(table, printer);

    print_rows(table, printer, &layout);
}
