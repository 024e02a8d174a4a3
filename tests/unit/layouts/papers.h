/*
 * papers.h: synthetic measures of documents, and the calls that the tests of documents share. Any
 * error in them fails the test.
 */
#ifndef ERRATA_TESTS_UNIT_LAYOUTS_PAPERS_H
#define ERRATA_TESTS_UNIT_LAYOUTS_PAPERS_H

#include "server/domain/layouts/documents.h"
#include "tests/support/store/store_fixture.h"

#include <errata/v1/layout_service.pb-c.h>

/* A one-page document with text and one table; its bytes are those of its id. */
struct document_measures paper(const char *document_id);
/* Prepares and stores a document in a separate write; returns the result, and the seq if it is
 * OK. */
enum err paper_store(struct store_fixture *fixture, const struct document_measures *measures,
                     uint64_t *ret_seq);
/* Does the same for a document that must be stored; returns the seq. */
uint64_t paper_ingest(struct store_fixture *fixture, const struct document_measures *measures);
/* The seq of the organisation's last event. */
uint64_t paper_last_seq(struct store_fixture *fixture);
/* Returns the response of IngestDocument from an event; free it with the function of protobuf-c. */
Errata__V1__IngestDocumentResponse *paper_answer(struct store_fixture *fixture, uint64_t seq);
/* A list that is read page by page. */
struct paper_pages {
    uint32_t size;
    struct slice after;
    bool more;
};
/* Returns the next page of ListDocuments. */
Errata__V1__ListDocumentsResponse *
paper_list(struct store_fixture *fixture, struct document_list *list, struct paper_pages *pages);
/* Ends a page and advances `pages`. */
void paper_end_page(struct store_fixture *fixture, struct page *page, struct paper_pages *pages);
/* The organisation of all papers. */
struct org_id paper_org(void);

#endif
