/*
 * print.c: see print.h.
 */
#include "tools/errata/terminal/print.h"

#include "store/base/buffer.h"
#include "store/base/text.h"
#include "tools/errata/terminal/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

/* Maximum bytes of a piece that print_coloured cleans. */
#define CLEAN_BYTES_MAX ((size_t)64 * 1024 * 1024)

/* --- properties of the stream --- */

static unsigned terminal_width(int descriptor)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    unsigned long width = columns != NULL ? strtoul(columns, NULL, 10) : 0;

    if (width == 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
        width = size.ws_col;
    }
    if (width == 0 || width > 10000) {
        return PRINTER_WIDTH_DEFAULT;
    }
    return width < PRINTER_WIDTH_MIN ? PRINTER_WIDTH_MIN : (unsigned)width;
}

/* Returns whether the environment selects a character set other than UTF-8, by the precedence of
 * POSIX. If it selects none, as in a container, UTF-8 is assumed. Only the names are read, since
 * the terminal may use a locale that is not installed here. */
static bool lacks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && value[0] != '\0') {
            return strcasestr(value, "UTF-8") == NULL && strcasestr(value, "UTF8") == NULL;
        }
    }
    return false;
}

void printer_init(struct printer *printer, FILE *stream, bool no_colour)
{
    const char *no_color = getenv("NO_COLOR"); /* set and not empty (no-color.org) */
    const char *term = getenv("TERM");
    int descriptor = fileno(stream);

    *printer = (struct printer){.stream = stream, .terminal = isatty(descriptor) == 1};
    printer->cursor = printer->terminal && term != NULL && strcmp(term, "dumb") != 0;
    printer->colour = printer->cursor && !no_colour && (no_color == NULL || no_color[0] == '\0');
    printer->drawn_ascii = lacks_utf8();
    printer->ascii = printer->terminal && printer->drawn_ascii;
    printer->width = printer->terminal ? terminal_width(descriptor) : 0;
}

/* --- printing --- */

/* Clears the progress line before a text is written. */
static void begin(struct printer *printer)
{
    printer->used = true;
    if (printer->progress != NULL) {
        progress_hide(printer->progress);
    }
}

void print_text(struct printer *printer, const char *format, ...)
{
    va_list values;

    begin(printer);
    va_start(values, format);
    (void)vfprintf(printer->stream, format, values);
    va_end(values);
}

void print_bytes(struct printer *printer, struct slice bytes)
{
    begin(printer);
    if (bytes.size > 0) {
        (void)fwrite(bytes.data, 1, bytes.size,
                     printer->stream); /* write errors are detected at the end */
    }
}

const char *print_colour_start(const struct printer *printer, enum print_colour colour)
{
    if (!printer->colour) {
        return "";
    }
    switch (colour) {
    case COLOUR_NONE:
        return "";
    case COLOUR_BOLD:
        return "\x1b[1m";
    case COLOUR_DIM:
        return "\x1b[2m";
    case COLOUR_RED:
        return "\x1b[31m";
    case COLOUR_GREEN:
        return "\x1b[32m";
    case COLOUR_YELLOW:
        return "\x1b[33m";
    }
    return "";
}

const char *print_colour_end(const struct printer *printer, enum print_colour colour)
{
    return printer->colour && colour != COLOUR_NONE ? "\x1b[0m" : "";
}

void print_coloured(struct printer *printer, enum print_colour colour, struct slice text)
{
    struct arena arena;
    struct slice shown = {NULL, 0};

    arena_init(&arena, CLEAN_BYTES_MAX);
    shown = print_letters(printer, &arena, print_clean(&arena, text));
    begin(printer);
    (void)fprintf(printer->stream, "%s%.*s%s", print_colour_start(printer, colour),
                  SLICE_ARGS(shown), print_colour_end(printer, colour));
    arena_deinit(&arena);
}

void print_line(struct printer *printer, struct slice value)
{
    print_coloured(printer, COLOUR_NONE, value);
    print_text(printer, "\n");
}

/* Returns whether a terminal may interpret the code point as a control, or display it
 * misleadingly. */
static bool is_unsafe(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
        return true;
    }
    /* Line and paragraph separators, and marks that turn the direction of text. */
    return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/* Writes an escape such as `\u00e9`, or two of them above U+FFFF, as in JSON. */
static void print_json_escape(struct printer *printer, uint32_t code)
{
    if (code > 0xffff) {
        (void)fprintf(printer->stream, "\\u%04x\\u%04x",
                      (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                      (unsigned)(0xdc00 + ((code - 0x10000) & 0x3ff)));
    } else {
        (void)fprintf(printer->stream, "\\u%04x", (unsigned)code);
    }
}

void print_json(struct printer *printer, struct slice json)
{
    size_t from = 0;

    begin(printer);
    /* Line feeds between the members of indented JSON are kept. */
    for (size_t at = 0; printer->terminal && text_is_utf8(json) && at < json.size;) {
        size_t start = at;
        uint32_t code = text_next(json, &at);

        if (code != '\n' && (is_unsafe(code) || (printer->ascii && code > 0x7e))) {
            (void)fwrite(json.data + from, 1, start - from, printer->stream);
            print_json_escape(printer, code);
            from = at;
        }
    }
    (void)fwrite(json.data + from, 1, json.size - from, printer->stream);
    (void)fputc('\n', printer->stream);
}

/* --- cleaning --- */

static void clean_one(struct buffer *buffer, uint32_t code, struct slice bytes)
{
    if (code == '\n') {
        buffer_append(buffer, SLICE("\\n"));
    } else if (code == '\r') {
        buffer_append(buffer, SLICE("\\r"));
    } else if (code == '\t') {
        buffer_append(buffer, SLICE("\\t"));
    } else if (is_unsafe(code)) {
        buffer_printf(buffer, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    } else {
        buffer_append(buffer, bytes);
    }
}

/* Returns the number of bytes of the first character; 0 if it is not UTF-8. */
static size_t character_bytes(struct slice text)
{
    size_t most = text.size < 4 ? text.size : 4;

    for (size_t size = 1; size <= most; size++) {
        if (text_is_utf8(slice_of(text.data, size))) {
            return size;
        }
    }
    return 0;
}

struct slice print_grouped(struct arena *arena, struct slice digits)
{
    struct buffer grouped;

    buffer_init(&grouped, arena, digits.size * 2);
    for (size_t i = 0; i < digits.size; i++) {
        if (i > 0 && (digits.size - i) % 3 == 0) {
            buffer_append_byte(&grouped, ',');
        }
        buffer_append_byte(&grouped, digits.data[i]);
    }
    return buffer_slice(&grouped);
}

struct slice print_clean(struct arena *arena, struct slice text)
{
    struct buffer buffer;

    buffer_init(&buffer, arena, text.size);
    while (text.size > 0) {
        size_t size = character_bytes(text);
        size_t at = 0;

        if (size == 0) {
            buffer_printf(&buffer, "\\x%02x", (unsigned)text.data[0]);
            size = 1;
        } else {
            struct slice bytes = slice_of(text.data, size);

            clean_one(&buffer, text_next(bytes, &at), bytes);
        }
        text = slice_after(text, size);
    }
    return buffer_ok(&buffer) ? buffer_slice(&buffer) : slice_of(NULL, 0);
}

struct slice print_letters(const struct printer *printer, struct arena *arena, struct slice clean)
{
    struct buffer buffer;

    if (!printer->ascii) {
        return clean;
    }
    buffer_init(&buffer, arena, clean.size);
    for (size_t at = 0; at < clean.size;) {
        uint32_t code = text_next(clean, &at);

        if (code < 0x80) {
            buffer_append_byte(&buffer, (uint8_t)code);
        } else {
            buffer_printf(&buffer, code > 0xffff ? "\\U%06x" : "\\u%04x", (unsigned)code);
        }
    }
    return buffer_ok(&buffer) ? buffer_slice(&buffer) : slice_of(NULL, 0);
}

/* --- measuring and cutting --- */

unsigned print_width(struct slice clean)
{
    unsigned width = 0;

    for (size_t at = 0; at < clean.size;) {
        width += (unsigned)utf8proc_charwidth((utf8proc_int32_t)text_next(clean, &at));
    }
    return width;
}

/* Moves `*at` after one visible character; returns its columns. */
static unsigned next_cluster(struct slice clean, size_t *at)
{
    utf8proc_int32_t code = (utf8proc_int32_t)text_next(clean, at);
    unsigned width = (unsigned)utf8proc_charwidth(code);
    utf8proc_int32_t state = 0;

    while (*at < clean.size) {
        size_t after = *at;
        utf8proc_int32_t next = (utf8proc_int32_t)text_next(clean, &after);

        if (utf8proc_grapheme_break_stateful(code, next, &state)) {
            break;
        }
        width += (unsigned)utf8proc_charwidth(next);
        code = next;
        *at = after;
    }
    return width;
}

/* Always one column wide. */
static struct slice ellipsis(const struct printer *printer)
{
    return printer->ascii ? SLICE("~") : SLICE("\xe2\x80\xa6");
}

static struct slice join(struct arena *arena, struct slice first, struct slice second)
{
    struct buffer buffer;

    buffer_init(&buffer, arena, first.size + second.size);
    buffer_append(&buffer, first);
    buffer_append(&buffer, second);
    return buffer_ok(&buffer) ? buffer_slice(&buffer) : slice_of(NULL, 0);
}

struct slice print_cut(const struct printer *printer, struct arena *arena, struct slice clean,
                       unsigned width)
{
    unsigned used = 0;
    size_t end = 0;

    if (width == 0 || print_width(clean) <= width) {
        return width == 0 ? slice_of(NULL, 0) : clean;
    }
    for (size_t at = 0; at < clean.size; end = at) {
        used += next_cluster(clean, &at);
        if (used > width - 1) {
            break;
        }
    }
    return join(arena, slice_of(clean.data, end), ellipsis(printer));
}

struct slice print_cut_front(const struct printer *printer, struct arena *arena, struct slice clean,
                             unsigned width)
{
    unsigned left = print_width(clean);
    size_t start = 0;

    if (width == 0 || left <= width) {
        return width == 0 ? slice_of(NULL, 0) : clean;
    }
    while (start < clean.size && left > width - 1) {
        left -= next_cluster(clean, &start);
    }
    return join(arena, ellipsis(printer), slice_after(clean, start));
}
