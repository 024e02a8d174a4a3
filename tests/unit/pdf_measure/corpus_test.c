/*
 * corpus_test.c: the documents of tests/data/pdf whose tables are known, and files that once caused
 * failures. tests/bench/pdf_tables.c measures the accuracy; this test detects a regression.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include "server/jobs/pdf/measure/measure.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER "tests/data/pdf/"

static enum pdf_reason open_file(const char *path, struct slice password,
                                 struct measure_document **ret_document)
{
    char whole[512];
    enum pdf_reason reason = PDF_READ;
    int fd = -1;

    snprintf(whole, sizeof whole, FOLDER "%s", path);
    fd = open(whole, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    reason = measure_open(fd, password, ret_document);
    close(fd);
    return reason;
}

/* Tables on all pages. */
static uint32_t count_tables(const char *path)
{
    struct measure_document *document = NULL;
    struct pdf_text text = {0};
    uint32_t count = 0;

    assert_int_equal(open_file(path, (struct slice){0}, &document), PDF_READ);
    assert_int_equal(measure_text(document, &text), PDF_READ);
    for (uint32_t page = 0; page < text.page_count; page++) {
        struct pdf_explanation explanation = {0};

        assert_int_equal(measure_tables(document, page, &explanation), PDF_CUT_NONE);
        for (uint32_t i = 0; i < explanation.table_count; i++) {
            count += explanation.tables[i].counted;
        }
    }
    measure_close(document);
    return count;
}

/* Goal: generated invoices have exactly their tables. Method: five documents of each of ten layouts. */
static void test_generated_invoices_have_their_tables(void **state)
{
    static const uint32_t tables[10][5] = {
        {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}, {2, 2, 2, 2, 2},
        {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 2, 1, 3, 1}, {3, 3, 3, 3, 3}, {1, 1, 1, 1, 1},
    };

    (void)state;
    for (int i = 0; i < 50; i++) {
        char path[64];

        snprintf(path, sizeof path, "layout/gen-L%02d-%d.pdf", i / 5, i % 5);
        if (count_tables(path) != tables[i / 5][i % 5]) {
            fail_msg("%s: %u tables, not %u", path, count_tables(path), tables[i / 5][i % 5]);
        }
    }
}

/* Goal: of the 27 documents of a public competition, 24 have exactly their tables. Method: how many each
 * has; the three wrong ones have charts that look like tables, and a table of wrapped text. */
static void test_competition_documents_have_their_tables(void **state)
{
    static const struct {
        const char *path;
        uint32_t tables;
        uint32_t found;
    } cases[] = {
        {"eu-001", 7, 7}, {"eu-002", 1, 1}, {"eu-003", 3, 3}, {"eu-004", 12, 12}, {"eu-005", 2, 2},
        {"eu-006", 4, 4}, {"eu-007", 6, 6}, {"eu-008", 1, 1}, {"eu-009a", 1, 1},  {"eu-010", 1, 1},
        {"eu-011", 1, 2}, {"eu-012", 5, 6}, {"eu-013", 4, 4}, {"eu-014", 1, 1},   {"eu-015", 5, 4},
        {"eu-016", 1, 1}, {"eu-017", 1, 1}, {"eu-018", 2, 2}, {"eu-019", 1, 1},   {"eu-020", 3, 3},
        {"eu-021", 2, 2}, {"eu-022", 1, 1}, {"eu-023", 1, 1}, {"eu-024", 1, 1},   {"eu-025", 5, 5},
        {"eu-026", 3, 3}, {"eu-027", 1, 1},
    };
    size_t exact = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];

        snprintf(path, sizeof path, "table-truth/%s.pdf", cases[i].path);
        exact += count_tables(path) == cases[i].tables;
    }
    assert_true(exact >= 24);
}

/* Goal: encrypted documents open only with the right password; an empty one is not required.
 * Method: one of each. */
static void test_encrypted_document_opens_with_its_password(void **state)
{
    struct measure_document *document = NULL;
    static const char path[] = "encrypted/enc-R3_V2_U=view_O=master.pdf";

    (void)state;
    assert_int_equal(open_file(path, (struct slice){0}, &document), PDF_ENCRYPTED);
    assert_int_equal(open_file(path, SLICE("wrong"), &document), PDF_ENCRYPTED);
    assert_int_equal(open_file(path, SLICE("\xff\xfe"), &document), PDF_ENCRYPTED);
    assert_int_equal(open_file(path, SLICE("view"), &document), PDF_READ);
    measure_close(document);
    assert_int_equal(open_file("encrypted/empty_protected.pdf", (struct slice){0}, &document),
                     PDF_READ);
    measure_close(document);
}

/* Goal: a password is accepted in either encoding: Latin-1 before PDF 2.0, UTF-8 since. Method:
 * passwords that differ between the two, of the user and of the owner, and a wrong one like them. */
static void test_password_opens_in_either_encoding(void **state)
{
    static const struct {
        const char *path;
        const char *password;
        enum pdf_reason reason;
    } cases[] = {
        {"encrypted/own-r2-latin1.pdf", "schl\u00fcssel", PDF_READ},
        {"encrypted/own-r2-latin1.pdf", "schl\u00f6ssel", PDF_ENCRYPTED},
        {"encrypted/own-r6-utf8.pdf", "schl\u00fcssel", PDF_READ},
        {"encrypted/own-r6-utf8.pdf", "\u043f\u0430\u0440\u043e\u043b\u044c", PDF_READ},
        {"encrypted/own-r6-utf8.pdf", "schl\u00f6ssel", PDF_ENCRYPTED},
        {"encrypted/own-r6-utf8.pdf", "\u043f\u0430\u0440\u043e\u043b", PDF_ENCRYPTED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct measure_document *document = NULL;
        struct pdf_text text = {0};

        assert_int_equal(open_file(cases[i].path, slice_text(cases[i].password), &document),
                         cases[i].reason);
        if (cases[i].reason == PDF_READ) {
            assert_int_equal(measure_text(document, &text), PDF_READ);
            assert_true(slice_equal(text.snippet, SLICE("Invoice 12345\n")));
            measure_close(document);
        }
    }
}

/* Goal: rotated pages are measured as they are shown, and vertical text has its tables. Method: two
 * files with a table each. */
static void test_rotated_pages_are_measured_as_shown(void **state)
{
    (void)state;
    assert_int_equal(count_tables("rotated/gen-L01-0-rot90.pdf"), 1);
    assert_int_equal(count_tables("rotated/clockwise_table_1.pdf"), 1);
    assert_int_equal(count_tables("scanned/scan-1.pdf"), 0);
}

int run_corpus_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated_invoices_have_their_tables),
        cmocka_unit_test(test_competition_documents_have_their_tables),
        cmocka_unit_test(test_encrypted_document_opens_with_its_password),
        cmocka_unit_test(test_password_opens_in_either_encoding),
        cmocka_unit_test(test_rotated_pages_are_measured_as_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
