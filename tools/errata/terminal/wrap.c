/*
 * wrap.c: see wrap.h.
 */
#include "tools/errata/terminal/wrap.h"

unsigned wrap_width(const struct printer *printer)
{
    if (!printer->terminal) {
        return PRINTER_WIDTH_DEFAULT;
    }
    return printer->width < WRAP_WIDTH_MAX ? printer->width : WRAP_WIDTH_MAX;
}

/* Bytes of the word at the front: to the next blank that is not within backquotes. */
static size_t word_bytes(const char *text)
{
    bool quoted = false;
    size_t size = 0;

    while (text[size] != '\0' && text[size] != '\n' && (quoted || text[size] != ' ')) {
        quoted = quoted != (text[size] == '`');
        size++;
    }
    return size;
}

/* Columns that a word takes: backquotes become bold where there are colours. */
static unsigned word_columns(const struct printer *printer, const char *word, size_t size)
{
    unsigned columns = 0;

    for (size_t i = 0; i < size; i++) {
        columns += word[i] == '`' && printer->colour ? 0 : 1;
    }
    return columns;
}

static void print_word(struct printer *printer, const char *word, size_t size)
{
    bool bold = false;

    for (size_t i = 0; i < size; i++) {
        if (word[i] != '`' || !printer->colour) {
            print_text(printer, "%c", word[i]);
            continue;
        }
        bold = !bold;
        print_text(printer, "%s",
                   bold ? print_colour_start(printer, COLOUR_BOLD)
                        : print_colour_end(printer, COLOUR_BOLD));
    }
}

static void end_line(struct wrap *wrap)
{
    print_text(wrap->printer, "\n");
    wrap->column = 0;
}

static void put_word(struct wrap *wrap, const char *word, size_t size)
{
    unsigned columns = word_columns(wrap->printer, word, size);
    bool first = wrap->column <= wrap->indent;

    if (!first && wrap->column + 1 + columns > wrap->width) {
        end_line(wrap);
        first = true;
    }
    if (wrap->column < wrap->indent) {
        print_text(wrap->printer, "%*s", (int)(wrap->indent - wrap->column), "");
        wrap->column = wrap->indent;
    }
    print_text(wrap->printer, "%s", first ? "" : " ");
    print_word(wrap->printer, word, size);
    wrap->column += columns + (first ? 0 : 1);
}

void wrap_text(struct wrap *wrap, const char *text)
{
    while (*text != '\0') {
        size_t size = word_bytes(text);

        if (*text == '\n') {
            end_line(wrap);
            text++;
        } else if (size == 0) {
            text++; /* a blank */
        } else {
            put_word(wrap, text, size);
            text += size;
        }
    }
    end_line(wrap);
}

void wrap_entry(struct printer *printer, const char *term, const char *meaning, unsigned indent,
                unsigned column)
{
    struct wrap wrap = {.printer = printer, .indent = column, .width = wrap_width(printer)};

    print_text(printer, "%*s%s", (int)indent, "", term);
    wrap.column = indent + (unsigned)strlen(term);
    if (wrap.column + 2 > column) {
        end_line(&wrap);
    }
    wrap_text(&wrap, meaning);
}
