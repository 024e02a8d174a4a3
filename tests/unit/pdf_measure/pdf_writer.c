/*
 * pdf_writer.c: small PDFs for tests.
 */
#include "tests/unit/pdf_measure/pdf_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)

void pdf_writer_init(struct pdf_writer *writer)
{
    memset(writer, 0, sizeof *writer);
    arena_init(&writer->arena, FILE_BYTES_MAX);
    buffer_init(&writer->bytes, &writer->arena, 65536);
    buffer_append(&writer->bytes, SLICE("%PDF-1.4\n"));
}

void pdf_writer_deinit(struct pdf_writer *writer)
{
    arena_deinit(&writer->arena);
}

static int begin(struct pdf_writer *writer)
{
    assert_true(writer->count < PDF_WRITER_OBJECTS_MAX);
    writer->offsets[writer->count++] = writer->bytes.size;
    buffer_printf(&writer->bytes, "%zu 0 obj\n", writer->count);
    return (int)writer->count;
}

int pdf_writer_object(struct pdf_writer *writer, const char *text)
{
    int number = begin(writer);

    buffer_append(&writer->bytes, slice_text(text));
    buffer_append(&writer->bytes, SLICE("\nendobj\n"));
    return number;
}

int pdf_writer_stream(struct pdf_writer *writer, const char *entries, struct slice content)
{
    int number = begin(writer);

    buffer_printf(&writer->bytes, "<< %s /Length %zu >>\nstream\n", entries, content.size);
    buffer_append(&writer->bytes, content);
    buffer_append(&writer->bytes, SLICE("\nendstream\nendobj\n"));
    return number;
}

int pdf_file(struct slice bytes)
{
    int fd = memfd_create("test.pdf", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.data, bytes.size), bytes.size);
    return fd;
}

int pdf_writer_end(struct pdf_writer *writer)
{
    size_t table = writer->bytes.size;

    buffer_printf(&writer->bytes, "xref\n0 %zu\n0000000000 65535 f \n", writer->count + 1);
    for (size_t i = 0; i < writer->count; i++) {
        buffer_printf(&writer->bytes, "%010zu 00000 n \n", writer->offsets[i]);
    }
    buffer_printf(&writer->bytes, "trailer\n<< /Size %zu /Root 1 0 R >>\nstartxref\n%zu\n%%%%EOF\n",
                  writer->count + 1, table);
    assert_true(buffer_ok(&writer->bytes));
    return pdf_file(buffer_slice(&writer->bytes));
}

int pdf_page_file(const char *entries, const char *content, void (*further)(struct pdf_writer *))
{
    static struct pdf_writer writer;
    char page[1024];
    int fd = -1;

    pdf_writer_init(&writer);
    pdf_writer_object(&writer, "<< /Type /Catalog /Pages 2 0 R >>");
    pdf_writer_object(&writer, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
    snprintf(
        page, sizeof page,
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R %s /Resources << /Font << /F1 5 0 R /F2 6 "
        "0 R >> /XObject << /X1 7 0 R >> /ExtGState << /G1 8 0 R >> >> >>",
        entries);
    pdf_writer_object(&writer, page);
    pdf_writer_stream(&writer, "", slice_text(content));
    pdf_writer_object(&writer, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
                               "/Encoding /WinAnsiEncoding >>");
    pdf_writer_object(&writer, "<< /Type /Font /Subtype /Type1 /BaseFont /Courier "
                               "/Encoding /WinAnsiEncoding >>");
    if (further != NULL) {
        further(&writer);
    }
    fd = pdf_writer_end(&writer);
    pdf_writer_deinit(&writer);
    return fd;
}
