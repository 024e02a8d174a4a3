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
    enum print_colour colours[TABLE_COLUMNS_MAX];
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
        row->colours[i] = table->columns[i].colour;
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

void table_colour(struct table *table, size_t column, enum print_colour colour)
{
    for (size_t i = 0; table->last != NULL && i < table->column_count; i++) {
        if (i == column || column == TABLE_COLUMNS_MAX) {
            table->last->colours[i] = colour;
        }
    }
}

/* --- widths --- */

static int text_width(struct slice text)
{
    return (int)print_width(text);
}

static int least_width(const struct table_column *column)
{
    return column->min > 0 ? (int)column->min : TABLE_WIDTH_MIN;
}

/* Computes natural widths; on a terminal, columns without a value are omitted. */
static struct table_layout measure(const struct table *table, const struct printer *printer)
{
    struct table_layout layout = {.chosen = true};

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

        if (table->columns[i].cut == TABLE_NEVER_CUT && title < (int)table->columns[i].min) {
            title = (int)table->columns[i].min;
        }
        if (layout.widths[i] >= 0 && layout.widths[i] < title) {
            layout.widths[i] = title;
        }
    }
    return layout;
}

/* Returns the width of a row; with `narrowest`, all columns that may be cut have their minimum
 * width. */
static int row_width(const struct table *table, const struct table_layout *layout, bool narrowest)
{
    int total = -GAP;

    for (size_t i = 0; i < table->column_count; i++) {
        int width = layout->widths[i];
        int least = least_width(&table->columns[i]);

        if (narrowest && table->columns[i].cut != TABLE_NEVER_CUT && width > least) {
            width = least;
        }
        total += width >= 0 ? width + GAP : 0;
    }
    return total;
}

/* Returns the column to omit next: the last one of the highest rank; column_count if there is
 * none. */
static size_t next_to_leave(const struct table *table, const struct table_layout *layout)
{
    size_t found = table->column_count;

    for (size_t i = table->column_count; i-- > 0;) {
        unsigned rank = table->columns[i].extra;

        if (rank > 0 && layout->widths[i] >= 0 &&
            (found == table->column_count || rank > table->columns[found].extra)) {
            found = i;
        }
    }
    return found;
}

/* Omits columns until cutting the remaining ones suffices. */
static void leave_out(const struct table *table, int width, struct table_layout *layout)
{
    while (row_width(table, layout, true) > width) {
        size_t column = next_to_leave(table, layout);

        if (column == table->column_count) {
            return;
        }
        layout->widths[column] = -1;
    }
}

/* Reduces the widest column that may be cut by one, until a row fits. If that is not sufficient,
 * all columns are cut. */
static void cut(const struct table *table, int width, bool as_others, struct table_layout *layout)
{
    for (int total = row_width(table, layout, false); total > width; total--) {
        size_t widest = table->column_count;

        for (size_t i = 0; i < table->column_count; i++) {
            int least = as_others ? TABLE_WIDTH_MIN : least_width(&table->columns[i]);
            bool may_cut = table->columns[i].cut != TABLE_NEVER_CUT && layout->widths[i] > least;

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

/* Takes over the widths of the previous page: columns that may be cut keep them, others may
 * grow. Columns that were omitted for lack of room, or because they were and are empty, remain
 * omitted. */
static void keep_widths(const struct table *table, const struct printer *printer,
                        const struct table_layout *before, struct table_layout *layout)
{
    for (size_t i = 0; before->chosen && i < table->column_count; i++) {
        bool fixed = printer->terminal && table->columns[i].cut != TABLE_NEVER_CUT;

        if (before->widths[i] > layout->widths[i] || (fixed && before->widths[i] >= 0)) {
            layout->widths[i] = before->widths[i];
        }
    }
}

/* Gives the remaining room to columns that may need it later. */
static void stretch(const struct table *table, int width, struct table_layout *layout)
{
    int left = width - row_width(table, layout, false);

    for (size_t i = 0; i < table->column_count && left > 0; i++) {
        int more = TABLE_STRETCH_MAX - layout->widths[i];

        if (table->columns[i].cut == TABLE_NEVER_CUT || layout->widths[i] < 0 || more <= 0) {
            continue;
        }
        more = more < left ? more : left;
        layout->widths[i] += more;
        left -= more;
    }
}

static struct table_layout choose_layout(const struct table *table, const struct printer *printer,
                                         const struct table_layout *before)
{
    struct table_layout layout = measure(table, printer);

    keep_widths(table, printer, before, &layout);
    if (printer->terminal) {
        leave_out(table, (int)printer->width, &layout);
        cut(table, (int)printer->width, false, &layout);
        cut(table, (int)printer->width, true, &layout);
        if (before->stretched && !before->chosen) {
            stretch(table, (int)printer->width, &layout);
        }
    }
    layout.stretched = before->stretched;
    return layout;
}

/* --- printing --- */

static void print_cell(struct printer *printer, struct slice text, enum print_colour colour)
{
    print_text(printer, "%s%.*s%s", print_colour_start(printer, colour), SLICE_ARGS(text),
               print_colour_end(printer, colour));
}

static void print_row(const struct table *table, struct printer *printer,
                      const struct table_row *row, const struct table_layout *layout)
{
    int owed = 0; /* spaces to print before the next cell; none at the end of a line */

    for (size_t i = 0; i < table->column_count; i++) {
        int width = layout->widths[i];
        struct slice text = {NULL, 0};
        int blanks = 0;

        if (width < 0) {
            continue;
        }
        text = table->columns[i].cut == TABLE_CUT_FRONT
                   ? print_cut_front(printer, table->arena, row->cells[i], (unsigned)width)
                   : print_cut(printer, table->arena, row->cells[i], (unsigned)width);
        blanks = width - text_width(text);
        owed += table->columns[i].right ? blanks : 0;
        if (text.size > 0) {
            print_text(printer, "%*s", owed, "");
            print_cell(printer, text, row->colours[i]);
            owed = 0;
        }
        owed += GAP + (table->columns[i].right ? 0 : blanks);
    }
    print_text(printer, "\n");
}

static void print_heading(const struct table *table, struct printer *printer,
                          const struct table_layout *layout)
{
    struct table_row heading = {.next = NULL};

    for (size_t i = 0; i < table->column_count; i++) {
        heading.cells[i] = slice_text(table->columns[i].title);
        heading.colours[i] = COLOUR_BOLD;
    }
    print_row(table, printer, &heading, layout);
}

/* A terminal without UTF-8 shows other letters as escapes, which are wider. */
static void use_letters(struct table *table, const struct printer *printer)
{
    for (struct table_row *row = table->first; printer->ascii && row != NULL; row = row->next) {
        for (size_t i = 0; i < table->column_count; i++) {
            row->cells[i] = print_letters(printer, table->arena, row->cells[i]);
        }
    }
}

static bool shows_others(const struct table *table, const struct table_layout *before,
                         const struct table_layout *layout)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if ((before->widths[i] < 0) != (layout->widths[i] < 0)) {
            return true;
        }
    }
    return false;
}

void table_print_page(struct table *table, struct printer *printer, struct table_layout *layout)
{
    struct table_layout chosen;

    if (table->row_count == 0) {
        return;
    }
    use_letters(table, printer);
    chosen = choose_layout(table, printer, layout);
    if (!layout->chosen || shows_others(table, layout, &chosen)) {
        print_heading(table, printer, &chosen);
    }
    for (const struct table_row *row = table->first; row != NULL; row = row->next) {
        print_row(table, printer, row, &chosen);
    }
    *layout = chosen;
}

void table_print(struct table *table, struct printer *printer)
{
    struct table_layout layout = {.chosen = false};

    table_print_page(table, printer, &layout);
}
