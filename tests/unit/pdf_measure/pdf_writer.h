/*
 * pdf_writer.h: small PDFs for tests, with a correct cross-reference table. Object 1 is the catalog.
 */
#ifndef ERRATA_TESTS_UNIT_PDF_MEASURE_PDF_WRITER_H
#define ERRATA_TESTS_UNIT_PDF_MEASURE_PDF_WRITER_H

#include "store/base/buffer.h"

#define PDF_WRITER_OBJECTS_MAX 6000

struct pdf_writer {
    struct arena arena;
    struct buffer bytes;
    size_t offsets[PDF_WRITER_OBJECTS_MAX]; /* offset of object i + 1 */
    size_t count;
};

void pdf_writer_init(struct pdf_writer *writer);
void pdf_writer_deinit(struct pdf_writer *writer);
/* Writes the next object; returns its number. */
int pdf_writer_object(struct pdf_writer *writer, const char *text);
/* The same, as a stream with further entries of its dictionary, such as `/Type /XObject`. */
int pdf_writer_stream(struct pdf_writer *writer, const char *entries, struct slice content);
/* Writes the table of objects; returns a descriptor of the file, to be closed. */
int pdf_writer_end(struct pdf_writer *writer);

/* A file with these bytes. */
int pdf_file(struct slice bytes);
/* A file of one page: the page's own entries, such as `/MediaBox [0 0 600 800]`, and its content. The
 * page has the fonts F1 (Helvetica) and F2 (Courier), and may use any object from number 7 on that
 * `further` adds; NULL for none. */
int pdf_page_file(const char *entries, const char *content,
                  void (*further)(struct pdf_writer *writer));

#endif
