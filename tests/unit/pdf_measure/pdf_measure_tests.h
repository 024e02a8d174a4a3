/*
 * pdf_measure_tests.h: the groups of this folder, and the synthetic pages that some of them share.
 */
#ifndef ERRATA_TESTS_UNIT_PDF_MEASURE_PDF_MEASURE_TESTS_H
#define ERRATA_TESTS_UNIT_PDF_MEASURE_PDF_MEASURE_TESTS_H

#include "server/jobs/pdf/measure/parts.h"

int run_text_tests(void);
int run_rulings_tests(void);
int run_crossings_tests(void);
int run_tables_tests(void);
int run_text_tables_tests(void);
int run_prose_tests(void);
int run_parts_of_tables_tests(void);
int run_worst_tests(void);
int run_document_tests(void);
int run_path_tests(void);
int run_corpus_tests(void);
int run_family_tests(void);

/* A synthetic page of 600 by 800 points. */
struct page {
    struct arena arena;
    struct glyph *glyphs;
    size_t glyphs_count;
    size_t glyphs_capacity;
    struct rulings rulings;
    struct word_list words;
    struct table_search search;
};

void page_init(struct page *page);
void page_deinit(struct page *page);
/* A word of letters 5 points wide and `height` tall, followed by a space; its upper left is at x, y. */
void page_add_word_of_height(struct page *page, double x, double y, double height,
                             const char *text);
/* Adds a word 10 points tall. */
void page_add_word(struct page *page, double x, double y, const char *text);
/* A stroked line. */
void page_add_line(struct page *page, double x1, double y1, double x2, double y2);
/* Exchanges x and y of all that was added. */
void page_turn(struct page *page);
/* Finds words, rulings and tables. */
void page_measure(struct page *page);
/* Returns the number of tables of a kind; with `counted`, only of those that count. */
size_t page_count(const struct page *page, enum pdf_table_kind kind, bool counted);

#endif
