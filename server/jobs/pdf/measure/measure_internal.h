/*
 * measure_internal.h: an open document; private to this folder. It owns all its objects of Poppler;
 * results are in `arena`, temporary data of a call in an arena of that call.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_MEASURE_MEASURE_INTERNAL_H
#define ERRATA_SERVER_JOBS_PDF_MEASURE_MEASURE_INTERNAL_H

#include "server/jobs/pdf/measure/measure.h"
#include "server/jobs/pdf/measure/parts.h"

#include <poppler.h>

/* Limit of a document's results: sizes of 5,000 pages, the glyphs of page 1, a picture. */
#define DOCUMENT_BYTES_MAX ((size_t)256 << 20)
/* Limit of a call's temporary data: glyphs, words, rulings at their limits. */
#define SCRATCH_BYTES_MAX ((size_t)256 << 20)

struct measure_document {
    struct arena arena;
    struct arena explanation; /* memory of the explanation of the last measure_tables */
    PopplerDocument *poppler;
    PopplerPage *first_page; /* kept, since Poppler keeps its text with it; NULL until needed */
    struct glyph_list first_glyphs; /* first glyphs of page 1, once it was read; in `arena` */
    char *first_text; /* text of page 1; g_free */
    bool keeps_pages;
    struct pdf_pages last_piece; /* last piece of the text of all pages; its text is in `piece` */
    struct arena piece;
    size_t pages_bytes; /* text of all pieces so far */
    bool gave_piece; /* the first one was returned */
    bool repaired;
    void (*on_cut)(void *user, enum pdf_cut cut);
    void *user;
};

/* Returns page 1, borrowed; NULL if it cannot be opened. */
PopplerPage *document_first_page(struct measure_document *document);
/* Returns the size of a page as displayed; sizes that are NaN or negative become 0. */
struct pdf_page_size page_size(PopplerPage *page);
/* Returns the text of a page in Poppler's order: UTF-8, to be freed with g_free; never NULL. */
char *page_text(PopplerPage *page);
/* Returns the glyphs of a page with their places; `text` is the result of page_text. False if out
 * of memory. */
bool page_glyphs(struct arena *arena, PopplerPage *page, const char *text,
                 struct glyph_list *ret_glyphs);
/* Returns whether the file has a PDF header near its start. */
bool damage_has_header(int fd);
/* Returns whether Poppler must repair the file because the references to its parts are wrong. */
bool damage_is_found(int fd);

#endif
