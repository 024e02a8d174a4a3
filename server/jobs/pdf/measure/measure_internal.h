/*
 * measure_internal.h: an open document, for this folder. All of Poppler's objects in it are owned by
 * it; what is told of it lives in `arena`, what one call needs in an arena of that call.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_MEASURE_MEASURE_INTERNAL_H
#define ERRATA_SERVER_JOBS_PDF_MEASURE_MEASURE_INTERNAL_H

#include "server/jobs/pdf/measure/measure.h"
#include "server/jobs/pdf/measure/parts.h"

#include <poppler.h>

/* Of everything that is told of a document: sizes of 5,000 pages, the glyphs of page 1, a picture. */
#define DOCUMENT_BYTES_MAX ((size_t)256 << 20)
/* Of what one call needs beside: glyphs, words, rulings at their limits. */
#define SCRATCH_BYTES_MAX ((size_t)256 << 20)

struct measure_document {
    struct arena arena;
    struct arena explanation; /* of the last measure_tables */
    PopplerDocument *poppler;
    PopplerPage *first_page; /* kept, since Poppler keeps its text with it; NULL until needed */
    struct glyph_list first_glyphs; /* of page 1, once it was read; in `arena` */
    char *first_text; /* of page 1; g_free */
    bool repaired;
    void (*on_cut)(void *user, enum pdf_cut cut);
    void *user;
};

/* Page 1; NULL if it can't be opened. Borrowed. */
PopplerPage *document_first_page(struct measure_document *document);
/* The size of a page as it is shown; sizes that are no number or below 0 are 0. */
struct pdf_page_size page_size(PopplerPage *page);
/* The text of a page as Poppler writes it down: UTF-8, to be freed with g_free; never NULL. */
char *page_text(PopplerPage *page);
/* The glyphs of a page with their places; `text` is what page_text gave. False without room. */
bool page_glyphs(struct arena *arena, PopplerPage *page, const char *text,
                 struct glyph_list *ret_glyphs);
/* The file says near its start that it is a PDF. */
bool damage_has_header(int fd);
/* Poppler had to repair the file, or will: it doesn't say how its parts can be found. */
bool damage_is_found(int fd);

#endif
