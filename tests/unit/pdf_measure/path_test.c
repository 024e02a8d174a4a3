/*
 * path_test.c: the paths that Poppler draws: which become rulings, which are ignored or cut; and the
 * picture of them.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"
#include "tests/unit/pdf_measure/pdf_writer.h"

#include "server/jobs/pdf/measure/measure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define CONTENT_BYTES_MAX ((size_t)64 << 20)

static struct measure_document *take_document(int fd)
{
    struct measure_document *document = NULL;
    struct pdf_text text = {0};

    assert_int_equal(measure_open(fd, (struct slice){0}, &document), PDF_READ);
    close(fd);
    assert_int_equal(measure_text(document, &text), PDF_READ);
    return document;
}

/* Measures a page of 600 by 800 points. The explanation is valid until the document is freed. */
static struct measure_document *explain(const char *content, void (*further)(struct pdf_writer *),
                                        struct pdf_explanation *ret_explanation)
{
    struct measure_document *document =
        take_document(pdf_page_file("/MediaBox [0 0 600 800]", content, further));

    assert_int_equal(measure_tables(document, 0, ret_explanation), PDF_CUT_NONE);
    return document;
}

/* Goal: strokes and fills become rulings if they are visible on the page, unless they are white.
 * Method: one content for each case, with its numbers of rulings and ignored paths. */
static void test_visible_strokes_and_fills_become_rulings(void **state)
{
    static const struct {
        const char *content;
        uint32_t rulings;
        uint32_t ignored;
    } cases[] = {
        {"100 100 m 300 100 l S", 1, 0},
        {"100 100 m 100 300 l s", 1, 0},
        {"100 100 200 200 re S", 4, 0},
        {"100 100 200 2 re f", 1, 0},
        {"100 100 200 20 re f*", 4, 0},
        {"100 100 200 20 re B", 4, 0},
        {"1 1 1 rg 100 100 200 20 re f", 0, 1},
        {"0.99 0.99 0.99 RG 100 100 m 300 100 l S", 0, 1},
        {"0.98 0.99 0.99 RG 100 100 m 300 100 l S", 1, 0},
        {"0 0 600 800 re f 5 5 590 790 re S", 0, 2},
        {"100 100 200 20 re n", 0, 0},
        {"q 0.5 0 0 0.5 50 50 cm 0 1 -1 0 300 100 cm 100 100 m 300 100 l S Q", 1, 0},
        {"100 100 m 300 150 l S", 0, 0},
        {"100 100 m 150 100 200 100 300 100 c S", 0, 0},
        {"BT /F1 400 Tf 1 Tr 50 300 Td (H) Tj ET", 0, 0}, /* outlines of letters */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdf_explanation explanation = {0};
        struct measure_document *document = explain(cases[i].content, NULL, &explanation);

        assert_int_equal(explanation.ruling_count, cases[i].rulings);
        assert_int_equal(explanation.rulings_ignored, cases[i].ignored);
        measure_close(document);
    }
}

static bool is_near(float a, double b)
{
    return fabs((double)a - b) <= 0.51;
}

/* Goal: a ruling is placed as shown, from the top left, also on rotated, cropped and large pages.
 * Method: one line from 100, 700 to 300, 700 of a page of 600 by 800, shown in different ways. */
static void test_ruling_is_placed_as_shown(void **state)
{
    static const struct {
        const char *entries;
        struct pdf_box box;
    } cases[] = {
        {"/MediaBox [0 0 600 800]", {100, 100, 300, 100}},
        {"/MediaBox [0 0 600 800] /Rotate 90", {700, 100, 700, 300}},
        {"/MediaBox [0 0 600 800] /Rotate 180", {300, 700, 500, 700}},
        {"/MediaBox [0 0 600 800] /Rotate 270", {100, 300, 100, 500}},
        {"/MediaBox [0 0 600 800] /CropBox [50 200 600 750]", {50, 50, 250, 50}},
        {"/MediaBox [-100 -100 1900 2900]", {200, 2200, 400, 2200}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdf_explanation explanation = {0};
        struct measure_document *document =
            take_document(pdf_page_file(cases[i].entries, "100 700 m 300 700 l S", NULL));

        assert_int_equal(measure_tables(document, 0, &explanation), PDF_CUT_NONE);
        assert_int_equal(explanation.ruling_count, 1);
        /* Poppler puts thin lines on the middle of a pixel: up to 1.5 points on the largest page. */
        assert_true(fabs((double)(explanation.rulings[0].x1 - cases[i].box.x1)) <= 3);
        assert_true(fabs((double)(explanation.rulings[0].y1 - cases[i].box.y1)) <= 3);
        assert_true(fabs((double)(explanation.rulings[0].x2 - cases[i].box.x2)) <= 3);
        assert_true(fabs((double)(explanation.rulings[0].y2 - cases[i].box.y2)) <= 3);
        if (i == 0) {
            assert_true(is_near(explanation.rulings[0].y1, 100));
        }
        measure_close(document);
    }
}

/* A form with a line, in a group, and a graphics state that makes it almost transparent. */
static void add_group(struct pdf_writer *writer)
{
    pdf_writer_stream(writer,
                      "/Type /XObject /Subtype /Form /BBox [0 0 600 800] "
                      "/Group << /S /Transparency /CS /DeviceRGB >>",
                      SLICE("100 100 m 300 100 l S"));
    pdf_writer_object(writer, "<< /Type /ExtGState /ca 0.01 /CA 0.01 >>");
}

/* A soft mask of luminosity over an image, both as large as the page. */
static void add_mask(struct pdf_writer *writer)
{
    pdf_writer_stream(writer,
                      "/Type /XObject /Subtype /Image /Width 200 /Height 200 /BitsPerComponent 8 "
                      "/ColorSpace /DeviceGray",
                      SLICE("short"));
    pdf_writer_object(writer, "<< /Type /ExtGState /SMask << /S /Luminosity /G 9 0 R >> >>");
    pdf_writer_stream(writer,
                      "/Type /XObject /Subtype /Form /BBox [0 0 600 800] "
                      "/Group << /S /Transparency /CS /DeviceGray >>",
                      SLICE("0.5 g 0 0 600 400 re f"));
}

/* Goal: lines in groups are counted, transparent ones are not; soft masks get a real surface and
 * have no other effect, images are skipped. Method: a form, a state and an image that use them. */
static void test_lines_in_groups_count_unless_transparent(void **state)
{
    struct pdf_explanation explanation = {0};
    struct measure_document *document = explain("/X1 Do", add_group, &explanation);

    (void)state;
    assert_int_equal(explanation.ruling_count, 1);
    measure_close(document);
    document = explain("/G1 gs 100 100 m 300 100 l S 100 200 50 9 re f", add_group, &explanation);
    assert_int_equal(explanation.ruling_count, 0);
    assert_int_equal(explanation.rulings_ignored, 2);
    measure_close(document);
    document = explain("q /G1 gs q 600 0 0 800 0 0 cm /X1 Do Q Q 100 100 m 300 100 l S", add_mask,
                       &explanation);
    assert_true(explanation.ruling_count >= 1);
    measure_close(document);
}

static size_t reported;
static enum pdf_cut reported_cut;

static void note_cut(void *user, enum pdf_cut cut)
{
    assert_ptr_equal(user, &reported);
    reported++;
    reported_cut = cut;
}

/* Draws `count` paths; `path` has room for two numbers. */
static int write_paths(size_t count, const char *path)
{
    struct arena arena;
    struct buffer content;
    int fd = -1;

    arena_init(&arena, CONTENT_BYTES_MAX);
    buffer_init(&content, &arena, CONTENT_BYTES_MAX / 4);
    for (size_t i = 0; i < count; i++) {
        buffer_append(&content, slice_text(path));
    }
    buffer_append_byte(&content, '\0');
    assert_true(buffer_ok(&content));
    fd = pdf_page_file("/MediaBox [0 0 600 800]", (const char *)content.data, NULL);
    arena_deinit(&arena);
    return fd;
}

/* Goal: a page at the limit of path operations is measured, one over it is cut, which is reported
 * once while it is rendered. Method: 200,000 and 200,001 lines at one place. */
static void test_page_above_the_operation_limit_is_cut(void **state)
{
    (void)state;
    for (size_t over = 0; over <= 1; over++) {
        struct pdf_explanation explanation = {0};
        struct measure_document *document =
            take_document(write_paths(MEASURE_PATH_OPERATIONS_MAX + over, "9 9 m 99 9 l S\n"));
        enum pdf_cut cut = PDF_CUT_NONE;

        reported = 0;
        measure_on_cut(document, note_cut, &reported);
        cut = measure_tables(document, 0, &explanation);
        assert_int_equal(cut, over == 0 ? PDF_CUT_NONE : PDF_CUT_PATHS);
        assert_int_equal(reported, over);
        if (over == 0) {
            assert_int_equal(explanation.path_operations, MEASURE_PATH_OPERATIONS_MAX);
            assert_int_equal(explanation.ruling_count, 1);
        } else {
            assert_int_equal(reported_cut, PDF_CUT_PATHS);
        }
        measure_close(document);
    }
}

/* Goal: a page of more rulings than the limit is cut. Method: a page of 40,000 points with 20,000 lines
 * and with one more. */
static void test_page_above_the_ruling_limit_is_cut(void **state)
{
    (void)state;
    for (int over = 0; over <= 1; over++) {
        struct arena arena;
        struct buffer content;
        struct pdf_explanation explanation = {0};
        struct measure_document *document = NULL;

        arena_init(&arena, CONTENT_BYTES_MAX);
        buffer_init(&content, &arena, CONTENT_BYTES_MAX / 4);
        /* Lines thicker than a pixel of a page this large, which Poppler does not move. */
        buffer_append(&content, SLICE("50 w\n"));
        for (int i = 0; i < MEASURE_RULINGS_MAX + over; i++) {
            buffer_printf(&content, "1 %d m 9 %d l S\n", 2 * i, 2 * i);
        }
        buffer_append_byte(&content, '\0');
        document = take_document(
            pdf_page_file("/MediaBox [0 0 40100 40100]", (const char *)content.data, NULL));
        assert_int_equal(measure_tables(document, 0, &explanation),
                         over == 0 ? PDF_CUT_NONE : PDF_CUT_RULINGS);
        if (over == 0) {
            assert_int_equal(explanation.ruling_count, MEASURE_RULINGS_MAX);
        }
        measure_close(document);
        arena_deinit(&arena);
    }
}

/* The four bytes at an offset of a PNG, high byte first. */
static uint32_t number_at(struct slice png, size_t offset)
{
    return (uint32_t)png.data[offset] << 24 | (uint32_t)png.data[offset + 1] << 16 |
           (uint32_t)png.data[offset + 2] << 8 | png.data[offset + 3];
}

/* Goal: the picture is a PNG of page 1 and its legend within the limit of its sides. Method: pages of all
 * shapes, with a table on them; a page without a size has none. */
static void test_picture_fits_its_limits(void **state)
{
    static const struct {
        const char *entries;
        uint32_t width;
        uint32_t height;
    } cases[] = {
        {"/MediaBox [0 0 600 800]", 1452, 2000}, {"/MediaBox [0 0 600 800] /Rotate 90", 2000, 1564},
        {"/MediaBox [0 0 100 100]", 300, 364},   {"/MediaBox [0 0 14400 30]", 2000, 68},
        {"/MediaBox [0 0 30 14400]", 4, 2000},   {"/MediaBox [0 0 0.1 0.1]", 1, 65},
    };
    static const char content[] =
        "100 100 200 200 re S 100 200 m 300 200 l S 200 100 m 200 300 l S "
        "BT /F1 12 Tf 110 110 Td (ab) Tj 100 0 Td (12) Tj 0 100 Td (cd) Tj "
        "-100 0 Td (34) Tj ET";

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdf_explanation explanation = {0};
        struct slice png = {0};
        struct measure_document *document =
            take_document(pdf_page_file(cases[i].entries, content, NULL));

        assert_int_equal(measure_tables(document, 0, &explanation), PDF_CUT_NONE);
        assert_true(measure_draw(document, &explanation, &png));
        assert_true(slice_starts_with(png, SLICE("\x89PNG\r\n\x1a\n")));
        assert_int_equal(number_at(png, 16), cases[i].width);
        assert_int_equal(number_at(png, 20), cases[i].height);
        measure_close(document);
    }
}

/* Goal: the same bytes give the same answer and picture. Method: a table page measured twice, by two
 * documents and again by one. */
static void test_same_bytes_have_the_same_answer(void **state)
{
    static const char content[] =
        "100 100 200 200 re S 100 200 m 300 200 l S 200 100 m 200 300 l S "
        "BT /F1 12 Tf 110 110 Td (ab) Tj 100 0 Td (12) Tj 0 100 Td (cd) Tj "
        "-100 0 Td (34) Tj ET";
    struct pdf_explanation first = {0};
    struct pdf_explanation second = {0};
    struct slice pictures[2] = {{0}};
    struct measure_document *a = explain(content, NULL, &first);
    struct measure_document *b = explain(content, NULL, &second);

    (void)state;
    assert_int_equal(first.table_count, second.table_count);
    assert_true(first.table_count >= 1 && first.tables[0].counted);
    assert_int_equal(first.tables[0].kind, PDF_TABLE_LATTICE);
    assert_memory_equal(first.tables, second.tables, first.table_count * sizeof *first.tables);
    assert_memory_equal(first.rulings, second.rulings, first.ruling_count * sizeof *first.rulings);
    assert_true(measure_draw(a, &first, &pictures[0]));
    assert_true(measure_draw(b, &second, &pictures[1]));
    assert_true(slice_equal(pictures[0], pictures[1]));
    assert_int_equal(measure_tables(b, 0, &second), PDF_CUT_NONE);
    assert_int_equal(first.ruling_count, second.ruling_count);
    assert_int_equal(measure_tables(b, 1, &second), PDF_CUT_LIMIT);
    measure_close(a);
    measure_close(b);
}

int run_path_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visible_strokes_and_fills_become_rulings),
        cmocka_unit_test(test_ruling_is_placed_as_shown),
        cmocka_unit_test(test_lines_in_groups_count_unless_transparent),
        cmocka_unit_test(test_page_above_the_operation_limit_is_cut),
        cmocka_unit_test(test_page_above_the_ruling_limit_is_cut),
        cmocka_unit_test(test_picture_fits_its_limits),
        cmocka_unit_test(test_same_bytes_have_the_same_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
