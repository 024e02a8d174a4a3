/*
 * document_test.c: measurements of documents that the tests write: sizes, text, snippet, refusals and
 * repairs.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"
#include "tests/unit/pdf_measure/pdf_writer.h"

#include "server/jobs/pdf/measure/measure.h"
#include "store/base/text.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static const struct slice no_password = {NULL, 0};

/* Opens a file and takes it over. */
static enum pdf_reason take_open(int fd, struct measure_document **ret_document)
{
    enum pdf_reason reason = measure_open(fd, no_password, ret_document);

    close(fd);
    return reason;
}

static struct measure_document *open_text(int fd, struct pdf_text *ret_text)
{
    struct measure_document *document = NULL;

    assert_int_equal(take_open(fd, &document), PDF_READ);
    assert_int_equal(measure_text(document, ret_text), PDF_READ);
    return document;
}

/* Goal: the size is that of the CropBox within the MediaBox, as the page is shown. Method: a page
 * for each case. */
static void test_size_is_that_of_the_crop_box(void **state)
{
    static const struct {
        const char *entries;
        double width;
        double height;
        bool too_large;
    } cases[] = {
        {"/MediaBox [0 0 600 800]", 600, 800, false},
        {"/MediaBox [0 0 595.276 841.89]", 595.276, 841.89, false},
        {"/MediaBox [0 0 600 800] /Rotate 90", 800, 600, false},
        {"/MediaBox [0 0 600 800] /Rotate 180", 600, 800, false},
        {"/MediaBox [0 0 600 800] /Rotate 270", 800, 600, false},
        {"/MediaBox [0 0 600 800] /Rotate 37", 600, 800, false},
        {"/MediaBox [0 0 600 800] /CropBox [20 300 500 780]", 480, 480, false},
        {"/MediaBox [0 0 600 800] /CropBox [20 300 500 780] /Rotate 90", 480, 480, false},
        {"/MediaBox [0 0 600 800] /CropBox [-50 -50 300 900]", 300, 800, false},
        {"/MediaBox [0 0 0 0]", 612, 792, false},
        {"/MediaBox [0 0 14400 14400]", 14400, 14400, false},
        {"/MediaBox [0 0 14401 100]", 14401, 100, true},
        {"/MediaBox [0 0 600 800] /UserUnit 10", 600, 800, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdf_text text = {0};
        struct measure_document *document =
            open_text(pdf_page_file(cases[i].entries, "", NULL), &text);

        assert_int_equal(text.page_count, 1);
        assert_true(fabs(text.pages[0].width - cases[i].width) < 1e-9);
        assert_true(fabs(text.pages[0].height - cases[i].height) < 1e-9);
        assert_int_equal(text.page_too_large, cases[i].too_large);
        assert_false(text.damaged);
        measure_close(document);
    }
}

/* Goal: text, its length without white space at the ends, and coverage are measured. Method: two
 * words of Courier, whose glyphs are 7.2 points wide at 12. */
static void test_text_length_and_coverage_are_measured(void **state)
{
    struct pdf_text text = {0};
    struct measure_document *document = open_text(
        pdf_page_file("/MediaBox [0 0 600 800]",
                      "BT /F2 12 Tf 100 700 Td (Total) Tj 45 0 Td (12,50 \\200) Tj ET", NULL),
        &text);

    (void)state;
    assert_int_equal(text.pages_read, 1);
    assert_string_equal(text.snippet.data, "Total 12,50 €\n");
    assert_int_equal(text.snippet.size, strlen("Total 12,50 €\n"));
    assert_int_equal(text.text_chars, 13);
    assert_int_equal(text.page_one_chars, 13);
    assert_int_equal(text.page_cells, 600 * 800);
    /* Eleven glyphs of seven or eight by about twelve cells. */
    assert_true(text.covered_cells >= 11 * 7 * 9 && text.covered_cells <= 12 * 8 * 14);
    assert_string_equal(text.poppler_version.data, measure_poppler_version());
    assert_false(text.cmaps_unavailable);
    measure_close(document);
}

/* Goal: the snippet of a page without text is only its line feed. Method: an empty page. */
static void test_empty_page_has_a_line_feed_as_snippet(void **state)
{
    struct pdf_text text = {0};
    struct pdf_explanation explanation = {0};
    struct measure_document *document =
        open_text(pdf_page_file("/MediaBox [0 0 600 800]", "", NULL), &text);

    (void)state;
    assert_int_equal(text.snippet.size, 1);
    assert_int_equal(text.page_one_chars, 0);
    assert_int_equal(text.covered_cells, 0);
    assert_int_equal(measure_tables(document, 0, &explanation), PDF_CUT_NONE);
    assert_int_equal(explanation.table_count + explanation.ruling_count + explanation.words, 0);
    measure_close(document);
}

/* Pages that each contain `word ` this many times, without the final space. */
static int write_pages(int pages, int words)
{
    static struct pdf_writer writer;
    char line[512];
    int fd = -1;
    int content = 0;

    pdf_writer_init(&writer);
    pdf_writer_object(&writer, "<< /Type /Catalog /Pages 2 0 R >>");
    writer.offsets[writer.count++] = writer.bytes.size;
    buffer_printf(&writer.bytes, "2 0 obj\n<< /Type /Pages /Count %d /Kids [", pages);
    for (int i = 0; i < pages; i++) {
        buffer_printf(&writer.bytes, "%d 0 R ", 5 + i);
    }
    buffer_printf(&writer.bytes, "] >>\nendobj\n");
    pdf_writer_object(&writer, "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>");
    memset(line, 0, sizeof line);
    snprintf(line, sizeof line, "BT /F1 3 Tf 10 100 Td (");
    for (int i = 0; i < words; i++) {
        snprintf(line + strlen(line), sizeof line - strlen(line), i == 0 ? "word" : " word");
    }
    snprintf(line + strlen(line), sizeof line - strlen(line), ") Tj ET");
    content = pdf_writer_stream(&writer, "", slice_text(line));
    for (int i = 0; i < pages; i++) {
        snprintf(line, sizeof line,
                 "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 200] /Contents %d 0 R /Resources "
                 "<< /Font << /F1 3 0 R >> >> >>",
                 content);
        pdf_writer_object(&writer, line);
    }
    fd = pdf_writer_end(&writer);
    pdf_writer_deinit(&writer);
    return fd;
}

/* Goal: pages are read until there are 1,500 characters with their line feeds, and no further.
 * Method: pages of 49, 249 and 1 characters. */
static void test_snippet_ends_after_1500_characters(void **state)
{
    static const struct {
        int pages;
        int words;
        uint32_t read;
        size_t characters;
    } cases[] = {
        {1, 10, 1, 50},     {29, 10, 29, 1450}, {30, 10, 30, 1500},
        {31, 10, 30, 1500}, {40, 10, 30, 1500}, {9, 20, 9, 900},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdf_text text = {0};
        struct measure_document *document =
            open_text(write_pages(cases[i].pages, cases[i].words), &text);

        assert_int_equal(text.page_count, cases[i].pages);
        assert_int_equal(text.pages_read, cases[i].read);
        assert_int_equal(text.snippet.size, cases[i].characters);
        assert_int_equal(text.text_chars, cases[i].read * (uint32_t)(cases[i].words * 5 - 1));
        assert_int_equal(text.page_one_chars, cases[i].words * 5 - 1);
        assert_true(text_is_utf8(text.snippet));
        measure_close(document);
    }
}

/* Pages of lines of 300 euro signs each, which are wider than the 3 points below which Poppler reads
 * only 50,000 on a page. */
static int write_euros(int pages, int lines)
{
    static struct pdf_writer writer;
    struct arena arena;
    struct buffer content;
    char page[256];
    int fd = -1;
    int number = 0;

    arena_init(&arena, 64 << 20);
    buffer_init(&content, &arena, 0);
    buffer_append(&content, SLICE("BT /F1 6 Tf 10 13900 Td 8 TL "));
    for (int i = 0; i < lines; i++) {
        buffer_append(&content, SLICE("("));
        for (int j = 0; j < 300; j++) {
            buffer_append(&content, SLICE("\\200"));
        }
        buffer_append(&content, SLICE(") Tj T* "));
    }
    buffer_append(&content, SLICE("ET"));
    assert_true(buffer_ok(&content));
    pdf_writer_init(&writer);
    pdf_writer_object(&writer, "<< /Type /Catalog /Pages 2 0 R >>");
    writer.offsets[writer.count++] = writer.bytes.size;
    buffer_printf(&writer.bytes, "2 0 obj\n<< /Type /Pages /Count %d /Kids [", pages);
    for (int i = 0; i < pages; i++) {
        buffer_printf(&writer.bytes, "%d 0 R ", 5 + i);
    }
    buffer_printf(&writer.bytes, "] >>\nendobj\n");
    pdf_writer_object(&writer, "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding "
                               "/WinAnsiEncoding >>");
    number = pdf_writer_stream(&writer, "", buffer_slice(&content));
    for (int i = 0; i < pages; i++) {
        snprintf(page, sizeof page,
                 "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 1200 14000] /Contents %d 0 R "
                 "/Resources << /Font << /F1 3 0 R >> >> >>",
                 number);
        pdf_writer_object(&writer, page);
    }
    fd = pdf_writer_end(&writer);
    pdf_writer_deinit(&writer);
    arena_deinit(&arena);
    return fd;
}

/* Goal: the snippet ends after 1,500 characters, not bytes. Method: a page of 20 lines of 100 euro signs
 * of 3 bytes. */
static void test_snippet_counts_characters_not_bytes(void **state)
{
    struct pdf_writer writer;
    struct pdf_text text = {0};
    struct measure_document *document = NULL;

    (void)state;
    pdf_writer_init(&writer);
    buffer_printf(&writer.bytes, "BT /F2 5 Tf 10 700 Td 12 TL ");
    for (int i = 0; i < 20; i++) {
        buffer_append(&writer.bytes, SLICE("("));
        for (int j = 0; j < 100; j++) {
            buffer_append(&writer.bytes, SLICE("\\200"));
        }
        buffer_append(&writer.bytes, SLICE(") Tj T* "));
    }
    buffer_append(&writer.bytes, slice_of("ET", 3));
    document = open_text(
        pdf_page_file("/MediaBox [0 0 600 800]", (const char *)writer.bytes.data + 9, NULL), &text);
    /* Each line has 100 signs and a line feed; 14 lines and 86 signs are 1,500. */
    assert_int_equal(text.snippet.size, 14 * 301 + 86 * 3);
    assert_int_equal(text.text_chars, 20 * 101 - 1);
    assert_true(text_is_utf8(text.snippet));
    measure_close(document);
    pdf_writer_deinit(&writer);
}

/* All pieces of a document's text, joined; returns the last one. */
static struct pdf_pages join_pieces(struct measure_document *document, struct buffer *text)
{
    struct pdf_pages piece = {.count = 0};

    while (measure_next_pages(document, &piece)) {
        buffer_append(text, piece.text);
    }
    assert_true(buffer_ok(text));
    return piece;
}

/* Goal: the text of all pages is that of each page with a line feed, begins with the snippet, and is
 * given only on request, which changes no other result. Method: documents that end within the first
 * piece, after it, and by a full snippet. */
static void test_text_of_all_pages_begins_with_the_snippet(void **state)
{
    static const int pages[] = {1, 29, 31, 200};

    (void)state;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct measure_document *document = NULL;
        struct pdf_pages last = {.count = 0};
        struct pdf_text plain = {0};
        struct pdf_text text = {0};
        struct arena arena;
        struct buffer all;

        arena_init(&arena, 1 << 20);
        buffer_init(&all, &arena, 0);
        document = open_text(write_pages(pages[i], 10), &plain);
        assert_false(measure_next_pages(document, &last));
        measure_close(document);
        assert_int_equal(take_open(write_pages(pages[i], 10), &document), PDF_READ);
        measure_keep_pages(document);
        assert_int_equal(measure_text(document, &text), PDF_READ);
        assert_int_equal(text.pages_read, pages[i] < 30 ? pages[i] : 30);
        last = join_pieces(document, &all);
        assert_int_equal(last.end, PDF_PAGES_WHOLE);
        assert_int_equal(last.count, pages[i]);
        assert_int_equal(all.size, 50 * pages[i]);
        assert_memory_equal(all.data, text.snippet.data, text.snippet.size);
        assert_memory_equal(all.data + 50 * (pages[i] - 1), all.data, 50);
        measure_close(document);
        arena_deinit(&arena);
    }
}

/* Goal: the text is cut at 1 MiB, at the end of a character, on a first page as on a later one.
 * Method: lines of 300 euro signs of 3 bytes, 1.3 MB of them on one page or on pages of 18 kB. */
static void test_text_of_all_pages_is_cut_at_its_limit(void **state)
{
    static const struct {
        int pages;
        int lines;
    } cases[] = {{1, 1500}, {75, 20}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct measure_document *document = NULL;
        struct pdf_pages last = {.count = 0};
        struct pdf_text text = {0};
        struct arena arena;
        struct buffer all;

        arena_init(&arena, 8 << 20);
        buffer_init(&all, &arena, 0);
        assert_int_equal(take_open(write_euros(cases[i].pages, cases[i].lines), &document),
                         PDF_READ);
        measure_keep_pages(document);
        assert_int_equal(measure_text(document, &text), PDF_READ);
        last = join_pieces(document, &all);
        assert_int_equal(last.end, PDF_PAGES_FULL);
        assert_true(all.size <= PDF_PAGES_TEXT_BYTES_MAX);
        assert_true(all.size > PDF_PAGES_TEXT_BYTES_MAX - 3);
        assert_true(text_is_utf8(buffer_slice(&all)));
        assert_memory_equal(all.data, text.snippet.data, text.snippet.size);
        assert_true(last.count >= 1 && last.count <= text.page_count);
        measure_close(document);
        arena_deinit(&arena);
    }
}

/* Goal: as many pages as the limit are read, one more is refused. Method: documents of 5,000 and
 * 5,001 pages. */
static void test_page_above_the_limit_is_refused(void **state)
{
    struct measure_document *document = NULL;
    struct pdf_text text = {0};

    (void)state;
    document = open_text(write_pages(PDF_PAGES_MAX, 60), &text);
    assert_int_equal(text.page_count, PDF_PAGES_MAX);
    assert_int_equal(text.pages_read, 5);
    measure_close(document);
    assert_int_equal(take_open(write_pages(PDF_PAGES_MAX + 1, 1), &document), PDF_READ);
    assert_int_equal(measure_text(document, &text), PDF_TOO_MANY_PAGES);
    measure_close(document);
}

static enum pdf_reason read_bytes(const char *bytes)
{
    struct measure_document *document = NULL;
    struct pdf_text text = {0};
    enum pdf_reason reason = take_open(pdf_file(slice_text(bytes)), &document);

    if (reason == PDF_READ) {
        reason = measure_text(document, &text);
        measure_close(document);
    }
    return reason;
}

/* Goal: an unreadable file is refused with its reason. Method: one file for each reason. */
static void test_unreadable_file_has_its_reason(void **state)
{
    (void)state;
    assert_int_equal(read_bytes(""), PDF_NOT_A_PDF);
    assert_int_equal(read_bytes("x"), PDF_NOT_A_PDF);
    assert_int_equal(read_bytes("<!doctype html><title>Not found</title>"), PDF_NOT_A_PDF);
    assert_int_equal(read_bytes("%PDF-1.4\n"), PDF_DAMAGED);
    assert_int_equal(read_bytes("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"),
                     PDF_DAMAGED);
    assert_int_equal(read_bytes("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
                                "2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\n"
                                "trailer\n<< /Root 1 0 R >>\n"),
                     PDF_NO_PAGES);
    assert_int_equal(read_bytes("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
                                "2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 2 >>\nendobj\n"
                                "3 0 obj\n<< /Type /Page /MediaBox [0 0 9 9] >>\nendobj\n"
                                "trailer\n<< /Root 1 0 R >>\n"),
                     PDF_PAGE_UNREADABLE);
}

/* Goal: a file that had to be repaired is reported, an intact one is not. Method: an intact file,
 * and the same modified by editors, mail and interrupted downloads. */
static void test_repaired_file_is_reported(void **state)
{
    static char bytes[65536];
    struct pdf_text text = {0};
    struct measure_document *document = NULL;
    int fd = pdf_page_file("/MediaBox [0 0 600 800]", "BT /F1 12 Tf (Text) Tj ET", NULL);
    ssize_t size = pread(fd, bytes, sizeof bytes - 64, 0);
    char *table = NULL;

    (void)state;
    close(fd);
    assert_true(size > 0);
    document = open_text(pdf_file(slice_of(bytes, (size_t)size)), &text);
    assert_false(text.damaged);
    measure_close(document);
    /* The file is truncated before its end. */
    document = open_text(pdf_file(slice_of(bytes, (size_t)size - 16)), &text);
    assert_true(text.damaged);
    measure_close(document);
    /* The offset at the end is wrong. */
    table = memmem(bytes, (size_t)size, "startxref\n", 10);
    assert_non_null(table);
    table[10] = '9';
    document = open_text(pdf_file(slice_of(bytes, (size_t)size)), &text);
    assert_true(text.damaged);
    assert_int_equal(text.page_one_chars, 4);
    measure_close(document);
}

/* Goal: bytes before the header shift all offsets, and more white space in an object shifts those
 * after it. Method: both. */
static void test_shifted_offsets_are_repaired(void **state)
{
    static char bytes[65536];
    static char shifted[65536];
    struct pdf_text text = {0};
    struct measure_document *document = NULL;
    int fd = pdf_page_file("/MediaBox [0 0 600 800]", "BT /F1 12 Tf (Text) Tj ET", NULL);
    size_t size = 0;
    ssize_t got = pread(fd, bytes, sizeof bytes - 64, 0);

    (void)state;
    close(fd);
    assert_true(got > 0);
    size = (size_t)got;
    memcpy(shifted, "junk\n", 5);
    memcpy(shifted + 5, bytes, size);
    document = open_text(pdf_file(slice_of(shifted, size + 5)), &text);
    assert_false(text.damaged);
    measure_close(document);
    /* Inserted after the header: the table is not at the offset of `startxref`. */
    memcpy(shifted, bytes, 9);
    memcpy(shifted + 9, "\n\n\n\n\n", 5);
    memcpy(shifted + 14, bytes + 9, size - 9);
    document = open_text(pdf_file(slice_of(shifted, size + 5)), &text);
    assert_true(text.damaged);
    assert_int_equal(text.page_one_chars, 4);
    measure_close(document);
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");

    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

/* Goal: a document keeps no descriptor when it is closed, or was refused; the caller's descriptor
 * is unchanged. Method: descriptors are counted, the offset is queried. */
static void test_closed_document_keeps_no_descriptor(void **state)
{
    struct pdf_text text = {0};
    struct measure_document *document = NULL;
    size_t before = 0;
    int fd = pdf_page_file("/MediaBox [0 0 600 800]", "", NULL);

    (void)state;
    before = count_descriptors();
    assert_int_equal(measure_open(fd, no_password, &document), PDF_READ);
    assert_int_equal(measure_text(document, &text), PDF_READ);
    measure_close(document);
    assert_int_equal(count_descriptors(), before);
    close(fd);
    fd = pdf_file(SLICE("%PDF-1.4 nothing"));
    assert_int_equal(measure_open(fd, no_password, &document), PDF_DAMAGED);
    assert_int_equal(count_descriptors(), before);
    close(fd);
    measure_close(NULL);
}

int run_document_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_is_that_of_the_crop_box),
        cmocka_unit_test(test_text_length_and_coverage_are_measured),
        cmocka_unit_test(test_empty_page_has_a_line_feed_as_snippet),
        cmocka_unit_test(test_snippet_ends_after_1500_characters),
        cmocka_unit_test(test_snippet_counts_characters_not_bytes),
        cmocka_unit_test(test_text_of_all_pages_begins_with_the_snippet),
        cmocka_unit_test(test_text_of_all_pages_is_cut_at_its_limit),
        cmocka_unit_test(test_page_above_the_limit_is_refused),
        cmocka_unit_test(test_unreadable_file_has_its_reason),
        cmocka_unit_test(test_repaired_file_is_reported),
        cmocka_unit_test(test_shifted_offsets_are_repaired),
        cmocka_unit_test(test_closed_document_keeps_no_descriptor),
    };

    if (!measure_warm_up()) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
