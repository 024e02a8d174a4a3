/*
 * plot.h: small plots in text: values by day as columns or as marks over one axis, and bars for
 * tables. They consist of blocks and braille with UTF-8, else of ASCII; no colour is needed to read
 * them. Days without data are gaps. If there are more days than columns, a column is the mean of
 * several days, and the plot states their number.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_PLOT_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_PLOT_H

#include "tools/errata/terminal/print.h"

/* Maximum width of a plot with its labels; a wider one is hard to read. */
#define PLOT_WIDTH_MAX 120

struct plot_point {
    double value; /* value, 0 or more */
    double weight; /* weight in a mean; 0: no data, a gap */
};

enum plot_kind {
    PLOT_COLUMNS, /* amounts: the axis starts at 0 */
    PLOT_MARKS /* shares from 0 to 1: the axis covers only their range */
};

struct plot {
    enum plot_kind kind;
    const struct plot_point *points; /* borrowed */
    const struct slice *labels; /* label of each point for the axis, in ASCII */
    size_t count;
    const char *unit; /* unit of a point, in the plural: "days" */
};

/* Prints it in at most the printer's width; nothing if no point has data. */
void plot_print(struct printer *printer, struct arena *arena, const struct plot *plot);
/* Returns a bar of at most `cells` columns for a share of 0 to 1; a share above 0 is visible. In
 * the arena. */
struct slice plot_bar(const struct printer *printer, struct arena *arena, double share,
                      unsigned cells);

#endif
