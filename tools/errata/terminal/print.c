/*
 * print.c: see print.h.
 */
#include "tools/errata/terminal/print.h"

#include "store/base/buffer.h"
#include "store/base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

/* Pieces that print_coloured cleans take no more memory than this. */
#define CLEAN_BYTES_MAX ((size_t)64 * 1024 * 1024)
/* An ellipsis, U+2026. */
static const struct slice ellipsis = SLICE("\xe2\x80\xa6");

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

void printer_init(struct printer *printer, FILE *stream, bool no_colour)
{
    const char *no_color = getenv("NO_COLOR"); /* no-color.org: set and not empty */
    const char *term = getenv("TERM");
    int descriptor = fileno(stream);

    printer->stream = stream;
    printer->terminal = isatty(descriptor) == 1;
    printer->colour = printer->terminal && !no_colour &&
                      (no_color == NULL || no_color[0] == '\0') && term != NULL &&
                      strcmp(term, "dumb") != 0;
    printer->width = printer->terminal ? terminal_width(descriptor) : 0;
}

void print_text(struct printer *printer, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    (void)vfprintf(printer->stream, format, values);
    va_end(values);
}

static const char *colour_start(enum print_colour colour)
{
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

void print_coloured(struct printer *printer, enum print_colour colour, struct slice text)
{
    bool coloured = printer->colour && colour != COLOUR_NONE;
    struct arena arena;
    struct slice clean = {NULL, 0};

    arena_init(&arena, CLEAN_BYTES_MAX);
    clean = print_clean(&arena, text);
    (void)fprintf(printer->stream, "%s%.*s%s", coloured ? colour_start(colour) : "",
                  (int)clean.size, (const char *)clean.data, coloured ? "\x1b[0m" : "");
    arena_deinit(&arena);
}

/* What a terminal may obey or be confused by, as a code point. */
static bool is_unsafe(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
        return true;
    }
    /* Line and paragraph separators, and marks that turn the direction of text. */
    return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

void print_line(struct printer *printer, struct slice value)
{
    print_coloured(printer, COLOUR_NONE, value);
    print_text(printer, "\n");
}

void print_json(struct printer *printer, struct slice json)
{
    size_t from = 0;

    /* Line feeds between the members of indented JSON are the writer's own. */
    for (size_t at = 0; printer->terminal && text_is_utf8(json) && at < json.size;) {
        size_t start = at;
        uint32_t code = text_next(json, &at);

        if (code != '\n' && is_unsafe(code)) {
            (void)fwrite(json.data + from, 1, start - from, printer->stream);
            (void)fprintf(printer->stream, "\\u%04x", (unsigned)code);
            from = at;
        }
    }
    (void)fwrite(json.data + from, 1, json.size - from, printer->stream);
    (void)fputc('\n', printer->stream);
}

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

/* The bytes of the character at the front, 0 where they are no UTF-8. */
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

unsigned print_width(struct slice clean)
{
    unsigned width = 0;

    for (size_t at = 0; at < clean.size;) {
        width += (unsigned)utf8proc_charwidth((utf8proc_int32_t)text_next(clean, &at));
    }
    return width;
}

struct slice print_cut(struct arena *arena, struct slice clean, unsigned width)
{
    struct buffer buffer;
    unsigned used = 0;
    size_t end = 0;

    if (width == 0 || print_width(clean) <= width) {
        return width == 0 ? slice_of(NULL, 0) : clean;
    }
    for (size_t at = 0; at < clean.size; end = at) {
        unsigned next = (unsigned)utf8proc_charwidth((utf8proc_int32_t)text_next(clean, &at));

        if (used + next > width - 1) {
            break;
        }
        used += next;
    }
    buffer_init(&buffer, arena, end + ellipsis.size);
    buffer_append(&buffer, slice_of(clean.data, end));
    buffer_append(&buffer, ellipsis);
    return buffer_ok(&buffer) ? buffer_slice(&buffer) : slice_of(NULL, 0);
}

struct slice print_cut_front(struct arena *arena, struct slice clean, unsigned width)
{
    unsigned left = print_width(clean);
    struct buffer buffer;
    size_t start = 0;

    if (width == 0 || left <= width) {
        return width == 0 ? slice_of(NULL, 0) : clean;
    }
    while (start < clean.size && left > width - 1) {
        left -= (unsigned)utf8proc_charwidth((utf8proc_int32_t)text_next(clean, &start));
    }
    buffer_init(&buffer, arena, clean.size - start + ellipsis.size);
    buffer_append(&buffer, ellipsis);
    buffer_append(&buffer, slice_after(clean, start));
    return buffer_ok(&buffer) ? buffer_slice(&buffer) : slice_of(NULL, 0);
}
