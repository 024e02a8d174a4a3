/*
 * papers.c: see papers.h.
 */
#include "tests/unit/layouts/papers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct org_id paper_org(void)
{
    return store_fixture_org(0x11);
}

struct document_measures paper(const char *document_id)
{
    static const struct document_page page = {595.2756, 841.8898};

    return (struct document_measures){
        .document_id = slice_text(document_id),
        .sha256 = sha256(slice_text(document_id)),
        .size_bytes = 1234,
        .pages = &page,
        .page_count = 1,
        .pages_read = 1,
        .text_chars = 500,
        .page_one_chars = 500,
        .covered_cells = 50000,
        .page_cells = 501752,
        .input_snippet = SLICE("Invoice 7\nBohrer 12 St\xc3\xbc\x63k\n"),
        .has_table_count = true,
        .table_count = 1,
        .fp_version = SLICE("1/22.12.0"),
    };
}

enum err paper_store(struct store_fixture *fixture, const struct document_measures *measures,
                     uint64_t *ret_seq)
{
    struct document_event *event = NULL;
    struct store_txn *txn = NULL;
    enum err err = OK;

    clock_manual_advance(&fixture->clock, 1000000);
    assert_int_equal(document_prepare(&fixture->ctx, measures, SLICE("anna"), &event), OK);
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    log_begin_write(txn, NULL);
    err = document_store(&fixture->ctx, txn, paper_org(), event, ret_seq);
    if (err == OK) {
        assert_int_equal(store_commit(txn), OK);
    } else {
        store_abort(txn);
    }
    return err;
}

uint64_t paper_ingest(struct store_fixture *fixture, const struct document_measures *measures)
{
    uint64_t seq = 0;

    assert_int_equal(paper_store(fixture, measures, &seq), OK);
    return seq;
}

static struct store_txn *begin_read(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    return txn;
}

uint64_t paper_last_seq(struct store_fixture *fixture)
{
    struct store_txn *txn = begin_read(fixture);
    struct log_head head;

    assert_int_equal(log_read_head(txn, paper_org(), &head), OK);
    store_abort(txn);
    return head.last_seq;
}

Errata__V1__IngestDocumentResponse *paper_answer(struct store_fixture *fixture, uint64_t seq)
{
    const struct document_detail detail = {.first_page_alone = false};
    struct store_txn *txn = begin_read(fixture);
    Errata__V1__IngestDocumentResponse *answer = NULL;
    struct document_view document;
    struct slice profile = {NULL, 0};
    struct buffer body;
    struct event event;

    buffer_init(&body, &fixture->arena, 256);
    assert_int_equal(log_read(txn, paper_org(), seq, &event), OK);
    assert_int_equal(document_of_event(&event, detail, &document), OK);
    document_view_put(&document, INGEST_DOCUMENT_RESPONSE_DOCUMENT_FIELD, &body);
    assert_int_equal(document_profile_of_event(&event, &profile), OK);
    wire_put_bytes_given(&body, INGEST_DOCUMENT_RESPONSE_PROFILE_FIELD, profile);
    store_abort(txn);
    answer = errata__v1__ingest_document_response__unpack(NULL, body.size, body.data);
    assert_non_null(answer);
    return answer;
}

void paper_end_page(struct store_fixture *fixture, struct page *page, struct paper_pages *pages)
{
    page_deinit(page);
    pages->more = page->more;
    assert_true(arena_copy(&fixture->arena, key_slice(&page->last), &pages->after));
}

Errata__V1__ListDocumentsResponse *paper_list(struct store_fixture *fixture,
                                              struct document_list *list, struct paper_pages *pages)
{
    struct store_txn *txn = begin_read(fixture);
    Errata__V1__ListDocumentsResponse *answer = NULL;
    struct document_view document;
    struct buffer body;
    struct page page;

    buffer_init(&body, &fixture->arena, 256);
    page_init(&page, pages->size, pages->after, &body);
    list->page = &page;
    assert_int_equal(document_list_begin(&fixture->arena, txn, list), OK);
    while (document_list_next(txn, list, &document) == OK) {
        document_view_put(&document, LIST_DOCUMENTS_RESPONSE_DOCUMENTS_FIELD, &body);
    }
    document_list_end(list);
    paper_end_page(fixture, &page, pages);
    store_abort(txn);
    answer = errata__v1__list_documents_response__unpack(NULL, body.size, body.data);
    assert_non_null(answer);
    return answer;
}
