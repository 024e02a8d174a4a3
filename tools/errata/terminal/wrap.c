/*
 * wrap.c: see wrap.h.
 */
#include "tools/errata/terminal/wrap.h"

/* Memory for wrapping in addition to the bytes of a message. */
#define MESSAGE_BYTES_MORE ((size_t)64 * 1024)

unsigned wrap_width(const struct printer *printer)
{
    if (!printer->terminal) {
        return PRINTER_WIDTH_DEFAULT;
    }
    return printer->width < WRAP_WIDTH_MAX ? printer->width : WRAP_WIDTH_MAX;
}

/* Returns the bytes of the first word: up to the next blank that is not within backquotes. */
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

/* Returns the columns of a word: backquotes become bold if there are colours. */
static unsigned word_columns(const struct printer *printer, const char *word, size_t size)
{
    unsigned quotes = 0;

    for (size_t i = 0; i < size; i++) {
        quotes += word[i] == '`' && printer->colour ? 1 : 0;
    }
    return print_width(slice_of(word, size)) - quotes;
}

static void print_word(struct printer *printer, const char *word, size_t size)
{
    const char *end = word + size;
    bool bold = false;

    while (word < end) {
        const char *quote = printer->colour ? memchr(word, '`', (size_t)(end - word)) : NULL;
        const char *stop = quote != NULL ? quote : end;

        print_text(printer, "%.*s", (int)(stop - word), word);
        if (quote != NULL) {
            bold = !bold;
            print_text(printer, "%s",
                       bold ? print_colour_start(printer, COLOUR_BOLD)
                            : print_colour_end(printer, COLOUR_BOLD));
        }
        word = stop + (quote != NULL ? 1 : 0);
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
    unsigned blanks = wrap->blanks > 0 ? wrap->blanks : 1;

    if (!first && wrap->column + blanks + columns > wrap->width) {
        end_line(wrap);
        first = true;
    }
    if (wrap->column < wrap->indent) {
        print_text(wrap->printer, "%*s", (int)(wrap->indent - wrap->column), "");
        wrap->column = wrap->indent;
    }
    print_text(wrap->printer, "%*s", first ? 0 : (int)blanks, "");
    print_word(wrap->printer, word, size);
    wrap->column += columns + (first ? 0 : blanks);
    wrap->blanks = 0;
}

void wrap_text(struct wrap *wrap, const char *text)
{
    while (*text != '\0') {
        size_t size = word_bytes(text);

        if (*text == '\n') {
            end_line(wrap);
            text++;
        } else if (size == 0) {
            text++;
            wrap->blanks++;
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

void wrap_message(struct printer *printer, unsigned column, unsigned indent, struct slice text)
{
    struct wrap wrap = {
        .printer = printer, .indent = indent, .width = printer->width, .column = column};
    struct slice shown = {NULL, 0};
    struct slice copy = {NULL, 0};
    struct arena arena;

    arena_init(&arena, text.size * 12 + MESSAGE_BYTES_MORE);
    shown = print_letters(printer, &arena, print_clean(&arena, text));
    if (!printer->terminal || column + 1 + print_width(shown) <= printer->width ||
        !arena_copy(&arena, shown, &copy)) {
        print_text(printer, "%s", column > 0 ? " " : "");
        print_word(printer, (const char *)shown.data, shown.size);
        print_text(printer, "\n");
    } else {
        wrap_text(&wrap, (const char *)copy.data);
    }
    arena_deinit(&arena);
}
