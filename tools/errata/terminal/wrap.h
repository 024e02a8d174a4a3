/*
 * wrap.h: sentences, wrapped at the width of a screen. Text in `backquotes` is bold if there are
 * colours, and is not broken over lines if it fits on one.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_WRAP_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_WRAP_H

#include "tools/errata/terminal/print.h"

/* Maximum width: longer lines are hard to read on any terminal. */
#define WRAP_WIDTH_MAX 100

struct wrap {
    struct printer *printer;
    unsigned indent; /* indentation of all lines except the open one */
    unsigned width;
    unsigned column; /* column of the next word in the open line */
    unsigned blanks; /* spaces before the next word, if it is on the same line */
};

/* Returns the width for wrapping: a terminal's, at most WRAP_WIDTH_MAX, or the default one. */
unsigned wrap_width(const struct printer *printer);
/* Prints cleaned text, and ends its last line. A line feed ends a line, two leave an empty line. */
void wrap_text(struct wrap *wrap, const char *text);
/* Prints a text with values from outside, after a blank if `column` columns of the line are filled
 * already: cleaned, and wrapped if a terminal is too narrow, with further lines at `indent`. */
void wrap_message(struct printer *printer, unsigned column, unsigned indent, struct slice text);
/* Prints a term and its meaning, which begins at `column`, or on the next line if the term is too long. */
void wrap_entry(struct printer *printer, const char *term, const char *meaning, unsigned indent,
                unsigned column);

#endif
