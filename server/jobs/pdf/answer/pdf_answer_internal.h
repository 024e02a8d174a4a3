/*
 * pdf_answer_internal.h: shared by both sides of an answer: the rules for its values, checked
 * before encoding (a bug) and after decoding (a worker that breaks them), and the packed form of
 * lists. Private to this folder.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_ANSWER_PDF_ANSWER_INTERNAL_H
#define ERRATA_SERVER_JOBS_PDF_ANSWER_PDF_ANSWER_INTERNAL_H

#include "server/jobs/pdf/answer/pdf_answer.h"

#include <worker/pdf_worker.fields.h>
#include <worker/pdf_worker.views.h>

/* The length before each frame. */
#define PDF_FRAME_HEADER_BYTES 4

/* A table in its packed form; words in the machine's byte order. */
struct pdf_table_bytes {
    uint32_t kind;
    struct pdf_box box;
    uint32_t rows;
    uint32_t cells;
    uint32_t counted;
};

_Static_assert(sizeof(struct pdf_page_size) == 16, "pages are packed as they are");
_Static_assert(sizeof(struct pdf_box) == 16, "rulings are packed as they are");
_Static_assert(sizeof(struct pdf_table_bytes) == 32, "tables have no padding");

/* Check that values are in their ranges; list pointers have as many elements as their counts
 * say. */
bool pdf_reason_is_refusal(uint32_t reason);
bool pdf_cut_is_known(uint32_t cut);
bool pdf_text_is_right(const struct pdf_text *text);
bool pdf_pages_piece_is_right(const struct pdf_pages *piece);
bool pdf_tables_are_right(enum pdf_cut cut, const struct pdf_tables *tables);
bool pdf_table_kind_is_known(uint32_t kind);
bool pdf_explanation_is_right(const struct pdf_explanation *explanation);
/* Checks a PNG's first 24 bytes (PNG specification, 5.2 and 11.2.1), and that its sides are within
 * PDF_PICTURE_SIDE_MAX. A program that draws it must check the rest. */
bool pdf_picture_is_right(struct slice png);

#endif
