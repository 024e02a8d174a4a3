/*
 * print.h: text for people and scripts on a stream. Text from outside is cleaned before a terminal
 * sees it: control characters, direction marks and invalid bytes become visible escapes, so that no
 * stored comment can move the cursor or recolour the screen. Uses colours only on a terminal, and
 * characters outside ASCII unless the locale excludes UTF-8. A progress line on the terminal is
 * removed before anything else is written.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_PRINT_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_PRINT_H

#include "store/base/arena.h"

#include <stdio.h>

/* The two arguments of printf's `%.*s`; evaluates the slice twice. */
#define SLICE_ARGS(slice) (int)(slice).size, (const char *)(slice).data

/* The width of a terminal that does not report one. */
#define PRINTER_WIDTH_DEFAULT 80
/* Minimum width; a terminal that reports less is treated as this wide. */
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
    bool terminal; /* a person reads it: clean texts, and cut tables to the width */
    bool colour;
    bool cursor; /* a terminal on which the last line can be erased */
    bool ascii; /* a terminal without UTF-8: other letters are shown as escapes */
    bool used; /* something was printed */
    bool drawn_ascii; /* draw with ASCII, since the locale is not UTF-8 */
    unsigned width; /* columns of a terminal */
    struct progress *progress; /* borrowed: hidden before anything is printed; NULL: none */
};

/* Initialises the printer from the stream and the environment (NO_COLOR, TERM, COLUMNS, LC_ALL,
 * LC_CTYPE, LANG). */
void printer_init(struct printer *printer, FILE *stream, bool no_colour);
/* Prints formatted text of the program; use print_clean for values from outside. */
void print_text(struct printer *printer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Prints bytes unchanged; values from outside must be cleaned before. */
void print_bytes(struct printer *printer, struct slice bytes);
/* Prints a text in a colour, without control characters. */
void print_coloured(struct printer *printer, enum print_colour colour, struct slice text);
/* Prints a cleaned value on a separate line. */
void print_line(struct printer *printer, struct slice value);
/* Prints a JSON text and a line feed. On a terminal, control characters that JSON allows (DEL, C1,
 * direction marks) become \u escapes; otherwise the text is printed unchanged. */
void print_json(struct printer *printer, struct slice json);

/* Returns digits with commas between thousands, in the arena. */
struct slice print_grouped(struct arena *arena, struct slice digits);
/* Returns text as one line for a terminal, with `\n`, `\t`, `\x1b` and so on for invisible
 * characters. In the arena; empty if memory is exhausted. */
struct slice print_clean(struct arena *arena, struct slice text);
/* Returns cleaned text in the characters that the printer supports: unchanged, or with escapes such
 * as `\u00e9`. */
struct slice print_letters(const struct printer *printer, struct arena *arena, struct slice clean);
/* Returns the width of cleaned text in columns. */
unsigned print_width(struct slice clean);
/* Returns the beginning of cleaned text in at most `width` columns, with an ellipsis if it was cut.
 * Never cuts within a grapheme cluster (a letter and its accents, a flag). */
struct slice print_cut(const struct printer *printer, struct arena *arena, struct slice clean,
                       unsigned width);
/* Returns the end of cleaned text, likewise. */
struct slice print_cut_front(const struct printer *printer, struct arena *arena, struct slice clean,
                             unsigned width);
/* Returns the sequence that starts the colour; empty if the printer has no colours. */
const char *print_colour_start(const struct printer *printer, enum print_colour colour);
const char *print_colour_end(const struct printer *printer, enum print_colour colour);

#endif
