/*
 * answer_samples.h: an answer with all parts, and its frames as bytes, so that tests can break one
 * thing at a time.
 */
#ifndef ERRATA_TESTS_UNIT_PDF_ANSWER_ANSWER_SAMPLES_H
#define ERRATA_TESTS_UNIT_PDF_ANSWER_ANSWER_SAMPLES_H

#include "server/jobs/pdf/answer/pdf_answer_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* An answer of three pages, two rulings, two tables (one of them counted) and a picture. */
const struct pdf_text *sample_text(void);
const struct pdf_explanation *sample_explanation(void);
struct slice sample_picture(void);
/* A counted table, and a sketch of eight features. */
struct pdf_tables sample_tables(void);

/* The parts of a frame, which tests change before they are encoded. */
struct sample_frame {
    bool has_refusal;
    bool has_text;
    bool has_tables;
    bool has_explanation;
    bool has_picture;
    bool has_pages;
    struct refusal_view refusal;
    struct text_view text;
    struct tables_view tables;
    struct explanation_view explanation;
    struct picture_view picture;
    struct pages_view pages;
};

/* A valid frame. */
void sample_refusal_frame(struct sample_frame *ret_frame);
void sample_text_frame(struct sample_frame *ret_frame);
void sample_tables_frame(struct sample_frame *ret_frame);
void sample_explanation_frame(struct sample_frame *ret_frame);
void sample_picture_frame(struct sample_frame *ret_frame);
/* The text of two pages of three. */
void sample_pages_frame(struct sample_frame *ret_frame);
/* Appends a frame with any values. */
void put_any_frame(struct buffer *buffer, const struct sample_frame *frame);

/* Tests of this program: sketch_test.c, pages_test.c. */
void test_sketch_round_trips_or_is_refused(void **state);
void test_pages_break_no_rule(void **state);
void test_pages_are_joined(void **state);

#endif
