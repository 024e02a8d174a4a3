/*
 * answer_samples.h: an answer with everything in it, and its frames as bytes, so that tests can break
 * one thing at a time.
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

/* A frame as the generated code has it, right in all things. */
void sample_refusal_frame(errata_worker_Frame *ret_frame);
void sample_text_frame(errata_worker_Frame *ret_frame);
void sample_tables_frame(errata_worker_Frame *ret_frame);
void sample_explanation_frame(errata_worker_Frame *ret_frame);
void sample_picture_frame(errata_worker_Frame *ret_frame);
/* The text of two pages of three. */
void sample_pages_frame(errata_worker_Frame *ret_frame);
/* Appends a frame with any values. */
void put_any_frame(struct buffer *buffer, const errata_worker_Frame *frame);

/* Tests of this program: sketch_test.c, pages_test.c. */
void test_sketch(void **state);
void test_pages_break_no_rule(void **state);
void test_pages_are_joined(void **state);

#endif
