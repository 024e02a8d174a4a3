/*
 * lists_test.c: documents and profiles are listed in their orders, page by page, whole and bounded.
 */
#include "server/domain/layouts/profiles.h"
#include "store/page.h"
#include "tests/unit/layouts/documents_tests.h"
#include "tests/unit/layouts/papers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DOCUMENTS 40
#define LAYOUTS 3

/* Document `number` of the layout that has as many tables. */
static uint64_t ingest_number(struct store_fixture *fixture, unsigned number, unsigned layout)
{
    char name[32] = {0};
    struct document_measures measures;

    (void)snprintf(name, sizeof(name), "document-%02u", number);
    measures = paper(name);
    measures.table_count = layout;
    return paper_ingest(fixture, &measures);
}

static unsigned layout_of(unsigned number)
{
    return 1 + number % LAYOUTS;
}

/* The newest document of the layout (0: any) up to `number`; 0 if there is none. */
static unsigned document_before(unsigned layout, unsigned number)
{
    while (number > 0 && layout != 0 && layout_of(number) != layout) {
        number--;
    }
    return number;
}

/* Reads a whole list, by pages. */
static void check_list(struct store_fixture *fixture, struct document_list *list,
                       uint32_t page_size, unsigned layout)
{
    struct paper_pages pages = {.size = page_size, .more = true};
    unsigned expected = DOCUMENTS;

    while (pages.more) {
        Errata__V1__ListDocumentsResponse *page = paper_list(fixture, list, &pages);

        assert_true(page->n_documents == page_size || !pages.more);
        for (size_t i = 0; i < page->n_documents; i++, expected--) {
            char name[32];

            expected = document_before(layout, expected);
            (void)snprintf(name, sizeof(name), "document-%02u", expected);
            assert_string_equal(page->documents[i]->document_id, name);
            assert_string_equal(page->documents[i]->input_snippet,
                                "Invoice 7\nBohrer 12 St\xc3\xbc\x63k\n");
        }
        errata__v1__list_documents_response__free_unpacked(page, NULL);
    }
    assert_int_equal(document_before(layout, expected), 0);
}

/* Goal: a list has every document once, newest first, for any page size, of all layouts or of one.
 * Method: 40 documents of 3 layouts, all page sizes. */
static void test_documents_are_listed_once_newest_first(void **state)
{
    struct store_fixture *fixture = *state;
    struct slice layouts[LAYOUTS + 1] = {{NULL, 0}};

    for (unsigned i = 1; i <= DOCUMENTS; i++) {
        uint64_t seq = ingest_number(fixture, i, layout_of(i));
        Errata__V1__IngestDocumentResponse *answer = paper_answer(fixture, seq);

        assert_true(arena_copy(&fixture->arena, slice_text(answer->document->layout_fingerprint),
                               &layouts[layout_of(i)]));
        errata__v1__ingest_document_response__free_unpacked(answer, NULL);
    }
    for (uint32_t page_size = 1; page_size <= DOCUMENTS + 1; page_size++) {
        for (unsigned layout = 0; layout <= LAYOUTS; layout++) {
            struct document_list list = {.org = paper_org(), .layout_fingerprint = layouts[layout]};

            check_list(fixture, &list, page_size, layout);
        }
    }
}

static uint32_t page_count_of(unsigned document)
{
    return document == 0 ? 5000 : 50;
}

/* Goal: a page stays within its limit, and has only the first page's size of each document. Method:
 * 300 documents of 50 pages with 4.5 KB of text, the first of 5,000 pages. */
static void test_page_of_large_documents_is_bounded(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_list list = {.org = paper_org()};
    struct paper_pages pages = {.size = 1000, .more = true};
    static struct document_page papers[5000];
    static char text[4500];
    size_t count = 0;

    memset(text, 'x', sizeof(text));
    for (unsigned i = 0; i < 5000; i++) {
        papers[i] = (struct document_page){595.28 + i, 842};
    }
    for (unsigned i = 0; i < 300; i++) {
        char name[32] = {0};
        struct document_measures measures;

        (void)snprintf(name, sizeof(name), "document-%u", i);
        measures = paper(name);
        measures.pages = papers;
        measures.page_count = page_count_of(i);
        measures.has_table_count = i > 0;
        measures.input_snippet = slice_of(text, sizeof(text));
        assert_int_equal(paper_ingest(fixture, &measures), i + 1);
        if (i == 0) {
            Errata__V1__IngestDocumentResponse *answer = paper_answer(fixture, 1);

            assert_int_equal(answer->document->n_page_dimensions, 5000);
            assert_true(answer->document->page_dimensions[4999]->width == 595.28 + 4999);
            errata__v1__ingest_document_response__free_unpacked(answer, NULL);
        }
        arena_reset(&fixture->arena);
    }
    for (unsigned rounds = 0; pages.more; rounds++) {
        Errata__V1__ListDocumentsResponse *page = paper_list(fixture, &list, &pages);

        assert_true(rounds < 2);
        assert_true(errata__v1__list_documents_response__get_packed_size(page) <= PAGE_BYTES_MAX);
        for (size_t i = 0; i < page->n_documents; i++) {
            assert_int_equal(page->documents[i]->n_page_dimensions, 1);
            /* Newest first. */
            assert_int_equal(page->documents[i]->page_count,
                             page_count_of(299 - (unsigned)(count + i)));
            assert_int_equal(strlen(page->documents[i]->input_snippet), sizeof(text));
        }
        count += page->n_documents;
        errata__v1__list_documents_response__free_unpacked(page, NULL);
    }
    assert_int_equal(count, 300);
}

/* Reports the table counts of all profiles in an order, by pages of `page_size`. */
static struct slice reported_profiles(struct store_fixture *fixture, enum profile_order order,
                                      uint32_t page_size)
{
    struct paper_pages pages = {.size = page_size, .more = true};
    struct buffer reported;

    buffer_init(&reported, &fixture->arena, 64);
    while (pages.more) {
        struct page page;
        const struct profile_list list = {.org = paper_org(), .order = order, .page = &page};
        struct store_txn *txn = NULL;
        struct profile profile;

        page_init(&page, pages.size, pages.after, NULL);
        assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
        assert_int_equal(profile_list_begin(txn, &list), OK);
        while (profile_list_next(&fixture->arena, txn, &list, &profile) == OK) {
            buffer_printf(&reported, " %.0f:%llu", profile.stats.table_count,
                          (unsigned long long)profile.view.seen_count);
        }
        assert_true(page.count == page_size || !page.more);
        paper_end_page(fixture, &page, &pages);
        store_abort(txn);
    }
    return buffer_slice(&reported);
}

/* Goal: profiles are in both orders, once each. Method: layouts seen by turns, all page sizes. */
static void test_profiles_are_listed_once_in_both_orders(void **state)
{
    static const unsigned layouts[] = {1, 2, 3, 3, 2, 3, 4, 4, 1};
    struct store_fixture *fixture = *state;

    for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        (void)ingest_number(fixture, i, layouts[i]);
        (void)ingest_number(fixture, i, layouts[i]); /* repeated: it does not count */
    }
    for (uint32_t page_size = 1; page_size <= 5; page_size++) {
        struct slice last = reported_profiles(fixture, PROFILE_ORDER_LAST_SEEN, page_size);
        struct slice most = reported_profiles(fixture, PROFILE_ORDER_MOST_SEEN, page_size);

        assert_true(slice_equal(last, SLICE(" 1:2 4:2 3:3 2:2")));
        assert_true(
            slice_equal(last, reported_profiles(fixture, PROFILE_ORDER_UNSPECIFIED, page_size)));
        assert_true(slice_starts_with(most, SLICE(" 3:3")));
        assert_int_equal(most.size, last.size);
    }
}

/* Goal: the profile in an event equals that of its tables afterwards. Method: documents of layouts
 * by turns; the event's bytes beside the row's, after each. */
static void test_profile_in_event_equals_the_table(void **state)
{
    struct store_fixture *fixture = *state;

    for (unsigned i = 0; i < 30; i++) {
        uint64_t seq = ingest_number(fixture, i, 1 + i * i % LAYOUTS);
        Errata__V1__IngestDocumentResponse *answer = paper_answer(fixture, seq);
        struct store_txn *txn = NULL;
        struct slice reported = {NULL, 0};
        struct slice read = {NULL, 0};
        struct profile profile;
        struct event event;

        assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
        assert_int_equal(log_read(txn, paper_org(), seq, &event), OK);
        assert_int_equal(document_profile_of_event(&event, &reported), OK);
        assert_int_equal(profile_find(&fixture->arena, txn, paper_org(),
                                      slice_text(answer->document->layout_fingerprint), &profile),
                         OK);
        assert_int_equal(profile_encode(&fixture->arena, &profile, &read), OK);
        assert_true(slice_equal(reported, read));
        store_abort(txn);
        errata__v1__ingest_document_response__free_unpacked(answer, NULL);
    }
}

int run_lists_tests(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_documents_are_listed_once_newest_first),
        TEST(test_page_of_large_documents_is_bounded),
        TEST(test_profiles_are_listed_once_in_both_orders),
        TEST(test_profile_in_event_equals_the_table),
    };
#undef TEST

    return cmocka_run_group_tests_name("documents: lists", tests, NULL, NULL);
}
