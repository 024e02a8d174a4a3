/*
 * starved_test.c: the documents that count as starved, by organisation and time.
 */
#include "tests/unit/pdf_jobs/pdf_jobs_tests.h"

#include "server/jobs/pdf/pdf_starved.h"

static struct uuid org(uint8_t number)
{
    return (struct uuid){{number}};
}

static struct sha256_digest document(uint32_t number)
{
    return sha256(slice_of(&number, sizeof(number)));
}

static bool note(struct pdf_starved *starved, uint8_t of_org, uint32_t number, int64_t now_us)
{
    const struct sha256_digest digest = document(number);

    return pdf_starved_note(starved, org(of_org), &digest, now_us);
}

/* Goal: a document counts as starved only for its organisation, within the interval, and until it
 * is measured; each record restarts the interval. Method: records at the edges of the interval. */
static void test_document_is_starved_again_within_the_time(void **state)
{
    static struct pdf_starved starved;
    const struct sha256_digest digest = document(1);

    (void)state;
    pdf_starved_init(&starved);
    assert_false(note(&starved, 1, 1, 0));
    assert_false(note(&starved, 2, 1, 0));
    assert_false(note(&starved, 1, 2, 0));
    assert_true(note(&starved, 1, 1, PDF_STARVED_KEEP_US));
    assert_true(note(&starved, 1, 1, 2 * PDF_STARVED_KEEP_US));
    assert_false(note(&starved, 2, 1, 2 * PDF_STARVED_KEEP_US));
    assert_false(note(&starved, 1, 1, 3 * PDF_STARVED_KEEP_US + 1));
    pdf_starved_forget(&starved, org(2), &digest);
    pdf_starved_forget(&starved, org(3), &digest);
    assert_true(note(&starved, 1, 1, 3 * PDF_STARVED_KEEP_US + 1));
    pdf_starved_forget(&starved, org(1), &digest);
    assert_false(note(&starved, 1, 1, 3 * PDF_STARVED_KEEP_US + 1));
    pdf_starved_deinit(&starved);
}

/* Goal: the table is bounded: the oldest entry is removed, those within their time are found
 * otherwise. Method: one more than it holds, each a second after the one before, then all of them
 * by age. */
static void test_table_of_starved_documents_is_bounded(void **state)
{
    static struct pdf_starved starved;
    int64_t now_us = 0;

    (void)state;
    pdf_starved_init(&starved);
    for (uint32_t i = 0; i <= PDF_STARVED_MAX; i++) {
        assert_false(note(&starved, 1, i, now_us));
        now_us += 1000000;
    }
    assert_int_equal(starved.count, PDF_STARVED_MAX);
    for (uint32_t i = 1; i <= PDF_STARVED_MAX; i++) {
        assert_true(note(&starved, 1, i, now_us));
    }
    assert_false(note(&starved, 1, 0, now_us));
    assert_false(note(&starved, 1, PDF_STARVED_MAX + 1, now_us + PDF_STARVED_KEEP_US + 1));
    assert_int_equal(starved.count, 1);
    pdf_starved_deinit(&starved);
}

int run_starved_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document_is_starved_again_within_the_time),
        cmocka_unit_test(test_table_of_starved_documents_is_bounded)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
