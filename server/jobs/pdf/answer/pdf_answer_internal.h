/*
 * pdf_answer_internal.h: what the two sides of an answer share: the rules that values have, asked
 * before encoding (our mistake) and after decoding (a worker that lies), and how lists of numbers lie
 * in a message. For this folder alone.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_ANSWER_PDF_ANSWER_INTERNAL_H
#define ERRATA_SERVER_JOBS_PDF_ANSWER_PDF_ANSWER_INTERNAL_H

#include "server/jobs/pdf/answer/pdf_answer.h"

#include <pdf_worker.pb.h>

/* In front of each frame. */
#define PDF_FRAME_HEADER_BYTES 4

/* A table as it lies in a message; words of the machine's own order. */
struct pdf_table_bytes {
    uint32_t kind;
    struct pdf_box box;
    uint32_t rows;
    uint32_t cells;
    uint32_t counted;
};

_Static_assert(sizeof(struct pdf_page_size) == 16, "pages lie in a message as they are");
_Static_assert(sizeof(struct pdf_box) == 16, "rulings lie in a message as they are");
_Static_assert(sizeof(struct pdf_table_bytes) == 32, "tables have no padding");

/* Each value of these is in its range; pointers are as many as their counts say. */
bool pdf_reason_is_refusal(uint32_t reason);
bool pdf_cut_is_known(uint32_t cut);
bool pdf_text_is_right(const struct pdf_text *text);
bool pdf_tables_are_right(enum pdf_cut cut, const struct pdf_tables *tables);
bool pdf_table_kind_is_known(uint32_t kind);
bool pdf_explanation_is_right(const struct pdf_explanation *explanation);
/* A PNG by its first 24 bytes (PNG specification, 5.2 and 11.2.1) whose sides are within
 * PDF_PICTURE_SIDE_MAX. The rest is for whoever draws it to distrust. */
bool pdf_picture_is_right(struct slice png);

#endif
