/*
 * print.h: text for people and scripts on a stream. Text from outside is cleaned before a terminal
 * sees it: control characters, direction marks and invalid bytes become visible escapes, so that no
 * stored comment can move the cursor or recolour the screen. Colours only on a terminal, and letters
 * beyond ASCII only on one that does not say it has no UTF-8. A progress line that is on the
 * terminal is taken away before anything else is written.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_PRINT_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_PRINT_H

#include "store/base/arena.h"

#include <stdio.h>

/* The two arguments of printf's `%.*s`; evaluates the slice twice. */
#define SLICE_ARGS(slice) (int)(slice).size, (const char *)(slice).data

/* The width of a terminal that does not report one. */
#define PRINTER_WIDTH_DEFAULT 80
/* Narrower than this nothing is readable: a terminal that says so is taken for this wide. */
#define PRINTER_WIDTH_MIN 40

enum print_colour {
    COLOUR_NONE,
    COLOUR_BOLD,
    COLOUR_DIM,
    COLOUR_RED,
    COLOUR_GREEN,
    COLOUR_YELLOW
};

struct progress;

struct printer {
    FILE *stream; /* borrowed */
    bool terminal; /* a person reads it: clean, and cut tables to the width */
    bool colour;
    bool cursor; /* a terminal that can take its last line back */
    bool ascii; /* a terminal without UTF-8: other letters are shown as escapes */
    bool drawn_ascii; /* draw with ASCII, since the locale is not UTF-8 */
    unsigned width; /* columns of a terminal */
    struct progress *progress; /* borrowed: hidden before anything is printed; NULL: none */
};

/* Looks at the stream and the environment (NO_COLOR, TERM, COLUMNS, LC_ALL, LC_CTYPE, LANG). */
void printer_init(struct printer *printer, FILE *stream, bool no_colour);
/* Text of our own, formatted; values from outside go through print_clean. */
void print_text(struct printer *printer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Bytes as they are: no value from outside that a terminal has not been saved from. */
void print_bytes(struct printer *printer, struct slice bytes);
/* Prints a text in a colour, without control characters. */
void print_coloured(struct printer *printer, enum print_colour colour, struct slice text);
/* A value on a line of its own, cleaned. */
void print_line(struct printer *printer, struct slice value);
/* A JSON text and a line feed. On a terminal control characters that JSON leaves as they are (DEL,
 * C1, direction marks) become \u escapes; elsewhere it goes out as it is. */
void print_json(struct printer *printer, struct slice json);

/* Text as one line that a terminal can show: `\n`, `\t`, `\x1b` and the like for invisible
 * characters. In the arena; the empty slice when it has no room. */
struct slice print_clean(struct arena *arena, struct slice text);
/* Cleaned text in the letters that the printer has: as it is, or with escapes such as `\u00e9`. */
struct slice print_letters(const struct printer *printer, struct arena *arena, struct slice clean);
/* Columns that cleaned text takes. */
unsigned print_width(struct slice clean);
/* The beginning of cleaned text in at most `width` columns, with an ellipsis where it was cut. What a
 * reader sees as one character (a letter and its accents, a flag) is not cut apart. */
struct slice print_cut(const struct printer *printer, struct arena *arena, struct slice clean,
                       unsigned width);
/* The same of its end. */
struct slice print_cut_front(const struct printer *printer, struct arena *arena, struct slice clean,
                             unsigned width);
/* Returns the sequence that starts the colour; empty if the printer has no colours. */
const char *print_colour_start(const struct printer *printer, enum print_colour colour);
const char *print_colour_end(const struct printer *printer, enum print_colour colour);

#endif
