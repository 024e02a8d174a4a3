/*
 * plot.c: see plot.h. Values are scaled to levels, several per row of letters, and drawn row by
 * row.
 */
#include "tools/errata/terminal/plot.h"

#include "store/base/buffer.h"

#include <math.h>

#define ROWS_OF_COLUMNS 4
#define ROWS_OF_MARKS 5
/* Between the label of a tick and the first column: the axis. */
#define AXIS_COLUMNS 1
/* Maximum columns of one point, including the gap. */
#define POINT_COLUMNS_MAX 4
/* Between two labels of the axis below. */
#define LABEL_GAP 4

/* A column of the plot: the mean of some points. */
struct bucket {
    double value;
    bool has_data;
};

struct drawing {
    struct printer *printer;
    struct arena *arena;
    const struct plot *plot;
    bool ascii;
    struct bucket *buckets;
    size_t bucket_count;
    size_t points_each; /* points per bucket */
    unsigned columns_each; /* columns per bucket, including the gap after it */
    double low; /* lower end of the axis */
    double high;
    unsigned rows;
    unsigned label_columns;
};

/* --- letters --- */

/* Returns a column that fills this many levels of a row. */
static const char *const block_letters[] = {" ",
                                            "\xe2\x96\x81",
                                            "\xe2\x96\x82",
                                            "\xe2\x96\x83",
                                            "\xe2\x96\x84",
                                            "\xe2\x96\x85",
                                            "\xe2\x96\x86",
                                            "\xe2\x96\x87",
                                            "\xe2\x96\x88"};
static const char *const ascii_blocks[] = {" ", ".", ":", "#"};
/* Returns a mark at one of a row's levels, from the bottom: rows of braille dots. */
static const char *const mark_letters[] = {"\xe2\xa3\x80", "\xe2\xa0\xa4", "\xe2\xa0\x92",
                                           "\xe2\xa0\x89"};
static const char *const ascii_marks[] = {"_", "-", "'"};
/* Returns the last column of a bar that fills this many eighths of it. */
static const char *const bar_letters[] = {"",
                                          "\xe2\x96\x8f",
                                          "\xe2\x96\x8e",
                                          "\xe2\x96\x8d",
                                          "\xe2\x96\x8c",
                                          "\xe2\x96\x8b",
                                          "\xe2\x96\x8a",
                                          "\xe2\x96\x89"};

static unsigned levels_of_row(const struct drawing *drawing)
{
    if (drawing->plot->kind == PLOT_COLUMNS) {
        return drawing->ascii ? 3 : 8;
    }
    return drawing->ascii ? 3 : 4;
}

/* --- layout --- */

/* Computes the means of points_each points each. */
static void fill_buckets(struct drawing *drawing)
{
    const struct plot *plot = drawing->plot;

    for (size_t i = 0; i < drawing->bucket_count; i++) {
        double sum = 0;
        double weight = 0;

        for (size_t j = i * drawing->points_each;
             j < (i + 1) * drawing->points_each && j < plot->count; j++) {
            sum += plot->points[j].value * plot->points[j].weight;
            weight += plot->points[j].weight;
        }
        drawing->buckets[i] = (struct bucket){weight > 0 ? sum / weight : 0, weight > 0};
    }
}

static void find_range(const struct drawing *drawing, double *ret_least, double *ret_most)
{
    double least = INFINITY;
    double most = 0;

    for (size_t i = 0; i < drawing->bucket_count; i++) {
        if (drawing->buckets[i].has_data) {
            least = fmin(least, drawing->buckets[i].value);
            most = fmax(most, drawing->buckets[i].value);
        }
    }
    *ret_least = least;
    *ret_most = most;
}

/* Returns 2, 4, 6, ... or 20 times a power of ten, whose half is an integer as well. */
static double nice_above(double most)
{
    double unit = 1;

    while (unit * 20 < most) {
        unit *= 10;
    }
    for (unsigned i = 2; i < 20; i += 2) {
        if (most <= unit * i) {
            return unit * i;
        }
    }
    return unit * 20;
}

/* Sets the axis to the tenths around all marks. */
static void choose_axis(struct drawing *drawing)
{
    double least = 0;
    double most = 0;

    find_range(drawing, &least, &most);
    if (drawing->plot->kind == PLOT_COLUMNS) {
        drawing->low = 0;
        drawing->high = nice_above(most);
        return;
    }
    drawing->low = floor(least * 10 + 1e-9) / 10;
    drawing->high = ceil(most * 10 - 1e-9) / 10;
    if (drawing->high - drawing->low < 0.05) {
        drawing->low = fmax(0, drawing->low - 0.1);
        drawing->high = drawing->low + 0.1;
    }
}

static double middle(const struct drawing *drawing)
{
    return (drawing->low + drawing->high) / 2;
}

/* Adds thousands separators, as in tables on a terminal. */
static struct slice group(const struct drawing *drawing, struct slice digits)
{
    struct buffer grouped;

    if (!drawing->printer->terminal) {
        return digits;
    }
    buffer_init(&grouped, drawing->arena, digits.size * 2);
    for (size_t i = 0; i < digits.size; i++) {
        if (i > 0 && (digits.size - i) % 3 == 0) {
            buffer_append_byte(&grouped, ',');
        }
        buffer_append_byte(&grouped, digits.data[i]);
    }
    return buffer_slice(&grouped);
}

static struct slice tick_label(const struct drawing *drawing, double value)
{
    return drawing->plot->kind == PLOT_MARKS
               ? arena_printf(drawing->arena, "%.2f", value)
               : group(drawing, arena_printf(drawing->arena, "%.0f", value));
}

static unsigned whole_width(const struct drawing *drawing)
{
    unsigned width = drawing->printer->terminal ? drawing->printer->width : PRINTER_WIDTH_DEFAULT;

    return width < PLOT_WIDTH_MAX ? width : PLOT_WIDTH_MAX;
}

/* Gives each point as many columns as fit; if there are more points than columns, several points
 * share one. */
static bool lay_out(struct drawing *drawing)
{
    size_t count = drawing->plot->count;
    /* The longest label is not known before the buckets are: eight digits and a blank hold most. */
    size_t room = whole_width(drawing) - 9 - AXIS_COLUMNS;

    drawing->points_each = (count + room - 1) / room;
    drawing->bucket_count = (count + drawing->points_each - 1) / drawing->points_each;
    drawing->columns_each = (unsigned)(room / drawing->bucket_count);
    if (drawing->columns_each > POINT_COLUMNS_MAX) {
        drawing->columns_each = POINT_COLUMNS_MAX;
    }
    drawing->buckets =
        arena_calloc(drawing->arena, drawing->bucket_count, sizeof(*drawing->buckets));
    if (drawing->buckets == NULL) {
        return false;
    }
    fill_buckets(drawing);
    choose_axis(drawing);
    drawing->rows = drawing->plot->kind == PLOT_COLUMNS ? ROWS_OF_COLUMNS : ROWS_OF_MARKS;
    drawing->label_columns = (unsigned)tick_label(drawing, drawing->high).size;
    return true;
}

/* --- drawing --- */

/* Returns the number of levels that a bucket's column fills, over all rows. */
static unsigned filled_levels(const struct drawing *drawing, const struct bucket *bucket)
{
    unsigned levels = drawing->rows * levels_of_row(drawing);
    double share = bucket->value / drawing->high;
    unsigned filled = (unsigned)lround(share * levels);

    return filled == 0 && bucket->value > 0 ? 1 : filled;
}

static const char *column_letter(const struct drawing *drawing, const struct bucket *bucket,
                                 unsigned row)
{
    unsigned each = levels_of_row(drawing);
    unsigned below = (drawing->rows - 1 - row) * each;
    unsigned filled = bucket->has_data ? filled_levels(drawing, bucket) : 0;
    unsigned here = filled > below ? filled - below : 0;

    here = here < each ? here : each;
    return drawing->ascii ? ascii_blocks[here] : block_letters[here];
}

static const char *mark_letter(const struct drawing *drawing, const struct bucket *bucket,
                               unsigned row)
{
    unsigned each = levels_of_row(drawing);
    double share = (bucket->value - drawing->low) / (drawing->high - drawing->low);
    unsigned level = (unsigned)lround(share * (drawing->rows * each - 1));

    if (!bucket->has_data || level / each != drawing->rows - 1 - row) {
        return " ";
    }
    return drawing->ascii ? ascii_marks[level % each] : mark_letters[level % each];
}

/* Returns whether a value reaches a row: its top for columns, its middle for marks. */
static bool row_has_tick(const struct drawing *drawing, unsigned row, double *ret_value)
{
    bool marks = drawing->plot->kind == PLOT_MARKS;

    if (row == 0) {
        *ret_value = drawing->high;
        return true;
    }
    if (row == drawing->rows / 2) {
        *ret_value = middle(drawing);
        return true;
    }
    *ret_value = drawing->low;
    return marks && row == drawing->rows - 1;
}

static void add_axis(const struct drawing *drawing, struct buffer *line, bool tick, double value)
{
    struct slice label = tick ? tick_label(drawing, value) : SLICE("");

    buffer_printf(line, "%*.*s ", (int)drawing->label_columns, SLICE_ARGS(label));
    if (drawing->ascii) {
        buffer_append_byte(line, tick ? '+' : '|');
    } else {
        buffer_append(line, tick ? SLICE("\xe2\x94\xa4") : SLICE("\xe2\x94\x82"));
    }
}

static void print_line_of(const struct drawing *drawing, struct buffer *line)
{
    while (line->size > 0 && line->data[line->size - 1] == ' ') {
        line->size--;
    }
    print_text(drawing->printer, "%.*s\n", SLICE_ARGS(*line));
}

static void print_row(const struct drawing *drawing, unsigned row)
{
    double value = 0;
    bool tick = row_has_tick(drawing, row, &value);
    bool columns = drawing->plot->kind == PLOT_COLUMNS;
    struct buffer line;

    buffer_init(&line, drawing->arena, 512);
    add_axis(drawing, &line, tick, value);
    for (size_t i = 0; i < drawing->bucket_count; i++) {
        const struct bucket *bucket = &drawing->buckets[i];
        const char *letter =
            columns ? column_letter(drawing, bucket, row) : mark_letter(drawing, bucket, row);
        unsigned wide = drawing->columns_each > 1 ? drawing->columns_each - 1 : 1;

        for (unsigned j = 0; j < wide; j++) {
            buffer_append(&line, slice_text(letter));
        }
        buffer_append(&line, drawing->columns_each > 1 ? SLICE(" ") : SLICE(""));
    }
    print_line_of(drawing, &line);
}

static unsigned plot_columns(const struct drawing *drawing)
{
    unsigned columns = (unsigned)drawing->bucket_count * drawing->columns_each;

    return drawing->columns_each > 1 ? columns - 1 : columns;
}

/* Draws the axis of points; under columns it marks 0. */
static void print_floor(const struct drawing *drawing)
{
    bool zero = drawing->plot->kind == PLOT_COLUMNS;
    struct buffer line;

    buffer_init(&line, drawing->arena, 512);
    buffer_printf(&line, "%*s ", (int)drawing->label_columns, zero ? "0" : "");
    buffer_append(&line, drawing->ascii ? SLICE("+") : SLICE("\xe2\x94\x94"));
    for (unsigned i = 0; i < plot_columns(drawing); i++) {
        buffer_append(&line, drawing->ascii ? SLICE("-") : SLICE("\xe2\x94\x80"));
    }
    print_line_of(drawing, &line);
}

/* Prints the labels of the first and the last point, and one between them if there is room. */
static void print_labels(const struct drawing *drawing)
{
    const struct plot *plot = drawing->plot;
    struct slice first = plot->labels[0];
    struct slice last = plot->labels[plot->count - 1];
    size_t half = drawing->bucket_count / 2;
    struct slice between = plot->labels[half * drawing->points_each];
    unsigned columns = plot_columns(drawing);
    size_t taken = first.size;
    size_t at = half * drawing->columns_each;
    struct buffer line;

    buffer_init(&line, drawing->arena, 256);
    buffer_printf(&line, "%*s", (int)drawing->label_columns + 1 + AXIS_COLUMNS, "");
    buffer_append(&line, first);
    if (at >= taken + LABEL_GAP && at + between.size + LABEL_GAP + last.size <= columns) {
        buffer_printf(&line, "%*s", (int)(at - taken), "");
        buffer_append(&line, between);
        taken = at + between.size;
    }
    if (plot->count > 1) {
        size_t start = columns > last.size ? columns - last.size : 0;

        buffer_printf(&line, "%*s", start > taken + 2 ? (int)(start - taken) : 2, "");
        buffer_append(&line, last);
    }
    print_line_of(drawing, &line);
}

static bool has_data(const struct plot *plot)
{
    for (size_t i = 0; i < plot->count; i++) {
        if (plot->points[i].weight > 0) {
            return true;
        }
    }
    return false;
}

void plot_print(struct printer *printer, struct arena *arena, const struct plot *plot)
{
    struct drawing drawing = {
        .printer = printer, .arena = arena, .plot = plot, .ascii = printer->drawn_ascii};

    if (!has_data(plot) || !lay_out(&drawing)) {
        return;
    }
    for (unsigned row = 0; row < drawing.rows; row++) {
        print_row(&drawing, row);
    }
    print_floor(&drawing);
    print_labels(&drawing);
    if (drawing.points_each > 1) {
        print_text(printer, "%*s(column = mean of %zu %s)\n",
                   (int)drawing.label_columns + 1 + AXIS_COLUMNS, "", drawing.points_each,
                   plot->unit);
    }
}

struct slice plot_bar(const struct printer *printer, struct arena *arena, double share,
                      unsigned cells)
{
    unsigned each = printer->drawn_ascii ? 1 : 8;
    double clipped = fmax(0, fmin(1, share));
    unsigned levels = (unsigned)lround(clipped * cells * each);
    struct buffer bar;

    levels = levels == 0 && clipped > 0 ? 1 : levels;
    buffer_init(&bar, arena, (size_t)cells * 3 + 1);
    for (unsigned i = 0; i < levels / each; i++) {
        buffer_append(&bar, printer->drawn_ascii ? SLICE("#") : SLICE("\xe2\x96\x88"));
    }
    buffer_append(&bar, slice_text(bar_letters[levels % each]));
    return buffer_slice(&bar);
}
