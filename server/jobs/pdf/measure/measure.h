/*
 * measure.h: a PDF measured: page tree, text and glyph coverage, then rulings and tables. Knows
 * Poppler and cairo, and nothing of cages, pipes or servers: the worker program calls it within the
 * cage, tests and benchmarks without one. One document at a time, one thread; the path tap needs
 * state of its own, so only programs that measure may contain this module.
 *
 * Work is bounded by counting (path operations, rulings, words, pages), never by time, so that the
 * same bytes always give the same answer. Time and memory are the cage's to bound.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_MEASURE_MEASURE_H
#define ERRATA_SERVER_JOBS_PDF_MEASURE_MEASURE_H

#include "server/jobs/pdf/answer/pdf_answer.h"

/* Limits of one page. */
#define MEASURE_PATH_OPERATIONS_MAX 200000
#define MEASURE_RULINGS_MAX 20000 /* each way */
#define MEASURE_WORDS_MAX 100000

struct measure_document;

/* Fonts and the like are read once, ahead of the first document; what it opens stays open. False if
 * poppler-data can't be read. Once a process. */
bool measure_warm_up(void);
/* The version of Poppler that runs; a literal. */
const char *measure_poppler_version(void);

/* Reads a document from a descriptor (borrowed; offset left alone). PDF_READ, or why not. */
enum pdf_reason measure_open(int fd, struct slice password, struct measure_document **ret_document);
/* Accepts NULL. */
void measure_close(struct measure_document *document);
/* Tells of a cut while the second phase still runs: Poppler can't be stopped within a page, and what
 * is left of it may take long. `on_cut` may end the process; if it returns, the page is walked to its
 * end without being measured, and measure_tables gives the same. */
void measure_on_cut(struct measure_document *document, void (*on_cut)(void *user, enum pdf_cut cut),
                    void *user);
/* The first phase. What it tells lives until measure_close. */
enum pdf_reason measure_text(struct measure_document *document, struct pdf_text *ret_text);
/* The second phase, of page `page` (from 0; a document's tables are those of page 0). PDF_CUT_NONE
 * with `ret_explanation` filled in, which lives until the next call or measure_close; the tables are
 * those of its tables that are `counted`. */
enum pdf_cut measure_tables(struct measure_document *document, uint32_t page,
                            struct pdf_explanation *ret_explanation);
/* Draws page 1, pale, with rulings, tables and glyph coverage, as PNG. The bytes live until
 * measure_close; false if it can't. */
bool measure_draw(struct measure_document *document, const struct pdf_explanation *explanation,
                  struct slice *ret_png);

#endif
