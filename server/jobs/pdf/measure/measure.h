/*
 * measure.h: measures a PDF: page tree, text and glyph coverage, then rulings and tables. Uses
 * Poppler and cairo; independent of sandbox, pipes and server: the worker program calls it inside
 * the sandbox, tests and benchmarks without one. One document at a time, on one thread; the path
 * tap needs static state, so only programs that measure may contain this module.
 * Work is bounded by counters (path operations, rulings, words, pages), never by time, so that the
 * same bytes always give the same answer. The sandbox bounds time and memory.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_MEASURE_MEASURE_H
#define ERRATA_SERVER_JOBS_PDF_MEASURE_MEASURE_H

#include "server/jobs/pdf/answer/pdf_answer.h"

/* Limits of one page. */
#define MEASURE_PATH_OPERATIONS_MAX 200000
#define MEASURE_RULINGS_MAX 20000 /* maximum in each direction */
#define MEASURE_WORDS_MAX 100000

struct measure_document;

/* Reads fonts and similar data once, before the first document; opened files stay open. False if
 * poppler-data cannot be read. Call once per process. */
bool measure_warm_up(void);
/* Returns the version of the loaded Poppler; a literal. */
const char *measure_poppler_version(void);

/* Opens a document from a descriptor (borrowed; its offset is unchanged). PDF_READ, or the reason
 * for refusal. */
enum pdf_reason measure_open(int fd, struct slice password, struct measure_document **ret_document);
/* Accepts NULL. */
void measure_close(struct measure_document *document);
/* Sets a callback for a cut during the second phase: Poppler cannot be stopped within a page, and
 * the rest of it may take long. `on_cut` may end the process; if it returns, the page is rendered
 * to its end without being measured, and measure_tables returns the same cut. */
void measure_on_cut(struct measure_document *document, void (*on_cut)(void *user, enum pdf_cut cut),
                    void *user);
/* Runs the first phase. Its result is valid until measure_close. */
enum pdf_reason measure_text(struct measure_document *document, struct pdf_text *ret_text);
/* Makes measure_text keep the text of the pages that it reads; call it before measure_text. */
void measure_keep_pages(struct measure_document *document);
/* Returns the next piece of the text of all pages (struct pdf_pages), after measure_text: first that
 * of the pages it read, then page by page. The piece is valid until the next call or measure_close.
 * False after the piece that has an end, or if a page cannot be read. */
bool measure_next_pages(struct measure_document *document, struct pdf_pages *ret_piece);
/* Runs the second phase for page `page` (from 0; a document's tables are those of page 0).
 * PDF_CUT_NONE with `ret_explanation`, which is valid until the next call or measure_close; the
 * document's tables are its `counted` ones. */
enum pdf_cut measure_tables(struct measure_document *document, uint32_t page,
                            struct pdf_explanation *ret_explanation);
/* Returns the sketch of page 1, after both phases; `explanation` is that of page 0. No sketch if the
 * page has too few features. */
void measure_sketch(struct measure_document *document, const struct pdf_explanation *explanation,
                    struct family_sketch *ret_sketch);
/* Draws page 1 in pale colours, with rulings, tables and glyph coverage, as PNG. The bytes are
 * valid until measure_close; false on failure. */
bool measure_draw(struct measure_document *document, const struct pdf_explanation *explanation,
                  struct slice *ret_png);

#endif
