/*
 * text.c: the first phase: sizes of all pages, text and glyphs of page 1, and text of further pages
 * only until the snippet is full. On request also the text of all pages, in pieces.
 */
#include "server/jobs/pdf/measure/measure_internal.h"

#include "store/base/text.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

/* Direction marks that Poppler adds to the text around right-to-left runs. */
#define BIDI_MARK_FIRST 0x202A
#define BIDI_MARK_LAST 0x202C
/* A page with a longer side is reported: PDF 1.7 forbids it (annex C.2). */
#define PAGE_SIDE_MAX 14400.0
#define CMAPS_PATH "/usr/share/poppler/cMap"

PopplerPage *document_first_page(struct measure_document *document)
{
    if (document->first_page == NULL) {
        document->first_page = poppler_document_get_page(document->poppler, 0);
    }
    return document->first_page;
}

static double usable(double side)
{
    return isfinite(side) && side > 0 ? side : 0;
}

struct pdf_page_size page_size(PopplerPage *page)
{
    double width = 0;
    double height = 0;

    poppler_page_get_size(page, &width, &height);
    return (struct pdf_page_size){.width = usable(width), .height = usable(height)};
}

char *page_text(PopplerPage *page)
{
    char *raw = poppler_page_get_text(page);
    char *text = g_utf8_make_valid(raw == NULL ? "" : raw, -1);

    g_free(raw);
    return text;
}

/* Returns the code point of the next rectangle: Poppler's text has marks without one. */
static uint32_t next_code_point(const char **text)
{
    uint32_t code_point = 0;

    do {
        code_point = g_utf8_get_char(*text);
        if (code_point == 0) {
            /* More rectangles than text: a glyph without a character. */
            return 0xFFFD;
        }
        *text = g_utf8_next_char(*text);
    } while (code_point >= BIDI_MARK_FIRST && code_point <= BIDI_MARK_LAST);
    return code_point;
}

bool page_glyphs(struct arena *arena, PopplerPage *page, const char *text,
                 struct glyph_list *ret_glyphs)
{
    PopplerRectangle *rectangles = NULL;
    guint count = 0;
    struct glyph *glyphs = NULL;

    if (!poppler_page_get_text_layout(page, &rectangles, &count)) {
        count = 0;
    }
    glyphs = arena_calloc(arena, (size_t)count + 1, sizeof *glyphs);
    for (guint i = 0; glyphs != NULL && i < count; i++) {
        const PopplerRectangle *from = &rectangles[i];

        glyphs[i] = (struct glyph){
            .box = {fmin(from->x1, from->x2), fmin(from->y1, from->y2), fmax(from->x1, from->x2),
                    fmax(from->y1, from->y2)},
            .code_point = next_code_point(&text),
        };
    }
    g_free(rectangles);
    *ret_glyphs = (struct glyph_list){.items = glyphs, .count = count};
    return glyphs != NULL;
}

static enum pdf_reason read_sizes(struct measure_document *document, struct pdf_text *text)
{
    struct pdf_page_size *pages = NULL;
    int count = poppler_document_get_n_pages(document->poppler);

    if (count <= 0) {
        return PDF_NO_PAGES;
    }
    if (count > PDF_PAGES_MAX) {
        return PDF_TOO_MANY_PAGES;
    }
    pages = arena_calloc(&document->arena, (size_t)count, sizeof *pages);
    if (pages == NULL) {
        return PDF_TEXT_LIMIT;
    }
    for (int i = 0; i < count; i++) {
        PopplerPage *page = poppler_document_get_page(document->poppler, i);

        if (page == NULL) {
            return PDF_PAGE_UNREADABLE;
        }
        pages[i] = page_size(page);
        text->page_too_large = text->page_too_large || pages[i].width > PAGE_SIDE_MAX ||
                               pages[i].height > PAGE_SIDE_MAX;
        g_object_unref(page);
    }
    text->pages = pages;
    text->page_count = (uint32_t)count;
    return PDF_READ;
}

/* Counts the code points between the white space at both ends. */
static size_t count_stripped(struct slice text)
{
    size_t count = 0;
    size_t last = 0;
    size_t at = 0;

    while (at < text.size) {
        uint32_t code_point = text_next(text, &at);

        if (!parts_is_space(code_point)) {
            last = count + 1;
        }
        /* Counting starts at the first code point that is not white space. */
        count += last > 0;
    }
    return last;
}

/* Measures coverage and characters of page 1. */
static bool measure_first_page(struct measure_document *document, struct pdf_text *text)
{
    struct arena scratch;
    struct coverage coverage = {0};
    bool ok = false;

    if (!page_glyphs(&document->arena, document->first_page, document->first_text,
                     &document->first_glyphs)) {
        return false;
    }
    arena_init(&scratch, SCRATCH_BYTES_MAX);
    ok = parts_measure_coverage(&scratch, document->first_glyphs, text->pages[0], &coverage);
    text->covered_cells = coverage.covered;
    text->page_cells = (uint64_t)coverage.width * (uint64_t)coverage.height;
    arena_deinit(&scratch);
    text->page_one_chars = (uint32_t)count_stripped(slice_text(document->first_text));
    return ok;
}

/* Adds the text of a page and a line feed. Returns the page's code points. */
static size_t add_page(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, slice_text(text));
    buffer_append_byte(buffer, '\n');
    return (size_t)g_utf8_strlen(text, -1);
}

/* Adds the text of a later page. */
static bool add_later_page(struct measure_document *document, struct buffer *buffer, uint32_t index,
                           size_t *ret_characters)
{
    PopplerPage *page = poppler_document_get_page(document->poppler, (int)index);
    char *text = NULL;

    if (page == NULL) {
        return false;
    }
    text = page_text(page);
    *ret_characters = add_page(buffer, text);
    g_free(text);
    g_object_unref(page);
    return true;
}

/* Keeps the text of further pages as a piece, as far as it fits. */
static bool keep_piece(struct measure_document *document, struct slice text, uint32_t count)
{
    const int page_count = poppler_document_get_n_pages(document->poppler);
    struct pdf_pages piece = {.count = count};

    piece.text = text_first_bytes(text, PDF_PAGES_TEXT_BYTES_MAX - document->pages_bytes);
    if (piece.text.size < text.size) {
        piece.end = PDF_PAGES_FULL;
    } else if ((int64_t)count >= page_count) {
        piece.end = PDF_PAGES_WHOLE;
    }
    document->pages_bytes += piece.text.size;
    if (!arena_copy(&document->piece, piece.text, &piece.text)) {
        return false;
    }
    document->last_piece = piece;
    return true;
}

void measure_keep_pages(struct measure_document *document)
{
    document->keeps_pages = true;
}

bool measure_next_pages(struct measure_document *document, struct pdf_pages *ret_piece)
{
    const struct pdf_pages last = document->last_piece;
    struct arena scratch;
    struct buffer buffer;
    size_t characters = 0;
    bool ok = false;

    if (last.count == 0) {
        return false;
    }
    /* The first piece was kept by the first phase. */
    if (!document->gave_piece) {
        document->gave_piece = true;
        *ret_piece = last;
        return true;
    }
    if (last.end != PDF_PAGES_STOPPED) {
        return false;
    }
    arena_reset(&document->piece);
    arena_init(&scratch, SCRATCH_BYTES_MAX);
    buffer_init(&buffer, &scratch, 0);
    ok = add_later_page(document, &buffer, last.count, &characters) && buffer_ok(&buffer) &&
         keep_piece(document, buffer_slice(&buffer), last.count + 1);
    arena_deinit(&scratch);
    if (ok) {
        *ret_piece = document->last_piece;
    }
    return ok;
}

/* Reads page after page until the snippet is full, into a buffer of the call. */
static enum pdf_reason read_snippet(struct measure_document *document, struct buffer *buffer,
                                    struct pdf_text *text)
{
    size_t characters = add_page(buffer, document->first_text);
    uint32_t read = 1;
    struct slice snippet;

    while (read < text->page_count && characters + read < PDF_SNIPPET_CHARACTERS_MAX) {
        size_t more = 0;

        if (!add_later_page(document, buffer, read, &more)) {
            return PDF_PAGE_UNREADABLE;
        }
        characters += more;
        read++;
    }
    if (!buffer_ok(buffer)) {
        return PDF_TEXT_LIMIT;
    }
    snippet = text_first_characters(buffer_slice(buffer), PDF_SNIPPET_CHARACTERS_MAX);
    if (!arena_copy(&document->arena, snippet, &text->snippet) ||
        (document->keeps_pages && !keep_piece(document, buffer_slice(buffer), read))) {
        return PDF_TEXT_LIMIT;
    }
    text->pages_read = read;
    text->text_chars = (uint32_t)characters;
    return PDF_READ;
}

/* Returns whether poppler-data can be read: without it much Asian text is lost. */
static bool has_cmaps(void)
{
    int fd = open(CMAPS_PATH, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        return false;
    }
    close(fd);
    return true;
}

enum pdf_reason measure_text(struct measure_document *document, struct pdf_text *ret_text)
{
    struct pdf_text text = {.damaged = document->repaired};
    struct arena scratch;
    struct buffer buffer;
    enum pdf_reason reason = read_sizes(document, &text);

    if (reason != PDF_READ) {
        return reason;
    }
    if (document_first_page(document) == NULL) {
        return PDF_PAGE_UNREADABLE;
    }
    g_free(document->first_text);
    document->first_text = page_text(document->first_page);
    if (!measure_first_page(document, &text)) {
        return PDF_TEXT_LIMIT;
    }
    arena_init(&scratch, SCRATCH_BYTES_MAX);
    buffer_init(&buffer, &scratch, 0);
    reason = read_snippet(document, &buffer, &text);
    arena_deinit(&scratch);
    if (reason != PDF_READ) {
        return reason;
    }
    text.cmaps_unavailable = !has_cmaps();
    text.poppler_version = slice_text(measure_poppler_version());
    *ret_text = text;
    return PDF_READ;
}
