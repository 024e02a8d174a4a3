/*
 * layout_tests.c: LayoutService through calls: a document is counted once, found by both its ids
 * and listed, filled into corrections, and visible only to its own organisation and the right
 * roles.
 */
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define CONTENT SLICE("%PDF-1.4 one")
#define OTHER_CONTENT SLICE("%PDF-1.4 another")

/* Requests a document, by the caller's id or the server's. */
static enum status_code get_document(struct fixture *fixture, const char *token,
                                     const char *document_id, const char *id,
                                     Errata__V1__Document **ret_document)
{
    Errata__V1__GetDocumentRequest request = ERRATA__V1__GET_DOCUMENT_REQUEST__INIT;
    Errata__V1__GetDocumentResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.LayoutService/GetDocument",
                                         .authorization = token};
    enum status_code code = STATUS_OK;

    if (document_id != NULL) {
        request.key_case = ERRATA__V1__GET_DOCUMENT_REQUEST__KEY_DOCUMENT_ID;
        request.document_id = (char *)(uintptr_t)document_id;
    } else {
        request.key_case = ERRATA__V1__GET_DOCUMENT_REQUEST__KEY_ID;
        request.id = (char *)(uintptr_t)id;
    }
    code = fixture_call(fixture, &start, &request.base, &response);
    if (code == STATUS_OK) {
        *ret_document = response->document;
    }
    return code;
}

static enum status_code get_profile(struct fixture *fixture, const char *token,
                                    const char *fingerprint,
                                    Errata__V1__LayoutProfile **ret_profile)
{
    Errata__V1__GetProfileRequest request = ERRATA__V1__GET_PROFILE_REQUEST__INIT;
    Errata__V1__GetProfileResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.LayoutService/GetProfile",
                                         .authorization = token};
    enum status_code code = STATUS_OK;

    request.layout_fingerprint = (char *)(uintptr_t)fingerprint;
    code = fixture_call(fixture, &start, &request.base, &response);
    if (code == STATUS_OK) {
        *ret_profile = response->profile;
    }
    return code;
}

static size_t count_documents(struct fixture *fixture, const char *token)
{
    Errata__V1__ListDocumentsRequest request = ERRATA__V1__LIST_DOCUMENTS_REQUEST__INIT;
    Errata__V1__ListDocumentsResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.LayoutService/ListDocuments",
                                         .authorization = token};

    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->n_documents;
}

/* Goal: a layout counts each document once: a repeat with the same bytes gets the same reply, with
 * other bytes it is refused, another document counts. Method: ingests by both methods, and the
 * profile after each. */
static void test_layout_counts_each_document_once(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__Document *first = NULL;
    Errata__V1__Document *again = NULL;
    Errata__V1__LayoutProfile *profile = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    assert_int_equal(ingest(&fixture, &start, "document", CONTENT, &first), STATUS_OK);
    start.path = INGEST_STREAM;
    clock_manual_advance(&fixture.clock, 1000000);
    assert_int_equal(ingest(&fixture, &start, "document", CONTENT, &again), STATUS_OK);
    assert_string_equal(first->id, again->id);
    assert_int_equal(get_profile(&fixture, fixture.admin, first->layout_fingerprint, &profile),
                     STATUS_OK);
    assert_int_equal(profile->seen_count, 1);

    ingest_open(&exchange, &fixture, INGEST_UNARY);
    ingest_send(&exchange, "document", OTHER_CONTENT);
    fixture_run(&fixture);
    assert_int_equal(exchange.code, STATUS_ALREADY_EXISTS);
    assert_true(slice_has(exchange.message, first->sha256));
    exchange_close(&exchange);

    assert_int_equal(ingest(&fixture, &start, "copy", CONTENT, NULL), STATUS_OK);
    assert_int_equal(get_profile(&fixture, fixture.admin, first->layout_fingerprint, &profile),
                     STATUS_OK);
    assert_int_equal(profile->seen_count, 2);
    assert_int_equal(count_documents(&fixture, fixture.admin), 2);
    assert_int_equal(ingest_count(&fixture), 2);
    fixture_deinit(&fixture);
}

/* Goal: a document whose rulings were cut is stored without a fingerprint, and measured again when
 * its bytes are sent again. Method: a cut answer, then a whole one. */
static void test_document_with_cut_rulings_is_measured_again(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__Document *document = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    fixture.documents.answer.cut = PDF_CUT_RULINGS;
    assert_int_equal(ingest(&fixture, &start, "document", CONTENT, &document), STATUS_OK);
    assert_int_equal(document->_layout_fingerprint_case,
                     ERRATA__V1__DOCUMENT___LAYOUT_FINGERPRINT__NOT_SET);
    assert_true(document->n_warnings > 0);
    assert_int_equal(document->warnings[0]->code,
                     ERRATA__V1__WARNING_CODE__WARNING_CODE_RULINGS_LIMIT);
    fixture.documents.answer.cut = PDF_CUT_NONE;
    assert_int_equal(ingest(&fixture, &start, "document", CONTENT, &document), STATUS_OK);
    assert_int_equal(document->n_warnings, 0);
    assert_int_equal(strlen(document->layout_fingerprint), 64);
    assert_int_equal(get_document(&fixture, fixture.admin, "document", NULL, &document), STATUS_OK);
    assert_int_equal(document->_layout_fingerprint_case,
                     ERRATA__V1__DOCUMENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT);
    assert_int_equal(count_documents(&fixture, fixture.admin), 1);
    fixture_deinit(&fixture);
}

/* Goal: no part of a document is visible to another organisation, which may use the same ids.
 * Method: another organisation requests everything, by correct ids. */
static void test_documents_are_invisible_to_others(void **state)
{
    struct fixture fixture;
    char stranger[FIXTURE_TOKEN_BYTES];
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__Document *document = NULL;
    Errata__V1__Document *other = NULL;
    Errata__V1__LayoutProfile *profile = NULL;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "stranger", stranger);
    start.authorization = fixture.admin;
    assert_int_equal(ingest(&fixture, &start, "document", CONTENT, &document), STATUS_OK);
    assert_int_equal(get_document(&fixture, fixture.admin, NULL, document->id, &other), STATUS_OK);
    assert_int_equal(get_document(&fixture, stranger, NULL, document->id, &other),
                     STATUS_NOT_FOUND);
    assert_int_equal(get_document(&fixture, stranger, "document", NULL, &other), STATUS_NOT_FOUND);
    assert_int_equal(get_document(&fixture, fixture.admin, "", NULL, &other),
                     STATUS_INVALID_ARGUMENT);
    assert_int_equal(get_document(&fixture, fixture.admin, NULL, "", &other),
                     STATUS_INVALID_ARGUMENT);
    assert_int_equal(get_profile(&fixture, stranger, document->layout_fingerprint, &profile),
                     STATUS_NOT_FOUND);
    assert_int_equal(count_documents(&fixture, stranger), 0);
    start.authorization = stranger;
    assert_int_equal(ingest(&fixture, &start, "document", OTHER_CONTENT, &other), STATUS_OK);
    assert_string_not_equal(other->id, document->id);
    assert_int_equal(get_profile(&fixture, stranger, document->layout_fingerprint, &profile),
                     STATUS_OK);
    assert_int_equal(profile->seen_count, 1);
    fixture_deinit(&fixture);
}

/* Goal: a VIEWER sees the measures, and never the text. Method: the same document by two tokens, by
 * itself and in the list. */
static void test_viewer_sees_no_text(void **state)
{
    struct fixture fixture;
    char viewer[FIXTURE_TOKEN_BYTES];
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__ListDocumentsRequest list = ERRATA__V1__LIST_DOCUMENTS_REQUEST__INIT;
    Errata__V1__ListDocumentsResponse *documents = NULL;
    Errata__V1__Document *document = NULL;

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    start.authorization = fixture.admin;
    assert_int_equal(ingest(&fixture, &start, "document", CONTENT, &document), STATUS_OK);
    assert_string_equal(document->input_snippet, "Invoice 4711 of today\n");
    assert_int_equal(get_document(&fixture, viewer, "document", NULL, &document), STATUS_OK);
    assert_int_equal(document->page_count, 1);
    assert_string_equal(document->input_snippet, "");
    start.path = "errata.v1.LayoutService/ListDocuments";
    start.authorization = viewer;
    assert_int_equal(fixture_call(&fixture, &start, &list.base, &documents), STATUS_OK);
    assert_int_equal(documents->n_documents, 1);
    assert_string_equal(documents->documents[0]->input_snippet, "");
    fixture_deinit(&fixture);
}

/* Captures a correction that names a document; returns the stored event. */
static Errata__V1__FeedbackEvent *capture(struct fixture *fixture, const char *document_id)
{
    char before[] = "{\"qty\":10}";
    char after[] = "{\"qty\":12}";
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = fixture->admin};

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event._document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
    event.document_id = (char *)(uintptr_t)document_id;
    event.before_json = before;
    event.after_json = after;
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN;
    request.event = &event;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->event;
}

/* Examples for a document by only its id, or for its layout. */
static Errata__V1__GetExamplesResponse *
get_examples(struct fixture *fixture, const char *fingerprint, const char *document_id)
{
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples",
                                         .authorization = fixture->admin};

    request.layout_fingerprint = (char *)(uintptr_t)fingerprint;
    if (document_id != NULL) {
        request._document_id_case = ERRATA__V1__GET_EXAMPLES_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
        request.document_id = (char *)(uintptr_t)document_id;
    }
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response;
}

/* Goal: the members that a correction of an ingested document omits are filled in, and the next
 * document of the layout gets it as an example with its text; a scan gets none. Method: ingest,
 * capture by document id, ingest another, look up; then the same with a document without text. */
static void test_correction_gets_layout_and_text_of_its_document(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__Document *document = NULL;
    Errata__V1__FeedbackEvent *event = NULL;
    Errata__V1__GetExamplesResponse *found = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    assert_int_equal(ingest(&fixture, &start, "first", CONTENT, &document), STATUS_OK);
    event = capture(&fixture, "first");
    assert_string_equal(event->layout_fingerprint, document->layout_fingerprint);
    assert_non_null(strstr(event->meta_json, "Invoice 4711 of today"));
    assert_int_equal(ingest(&fixture, &start, "second", OTHER_CONTENT, &document), STATUS_OK);
    found = get_examples(&fixture, document->layout_fingerprint, "second");
    assert_int_equal(found->n_examples, 1);
    assert_string_equal(found->examples[0]->input_snippet, "Invoice 4711 of today\n");
    assert_int_equal(found->withheld, ERRATA__V1__WITHHELD__WITHHELD_UNSPECIFIED);

    fixture.documents.answer.text.snippet = SLICE("");
    fixture.documents.answer.text.text_chars = 0;
    fixture.documents.answer.text.page_one_chars = 0;
    fixture.documents.answer.text.covered_cells = 0;
    fixture.documents.answer.tables.table_count = 0;
    assert_int_equal(ingest(&fixture, &start, "scan", CONTENT, &document), STATUS_OK);
    (void)capture(&fixture, "scan");
    found = get_examples(&fixture, document->layout_fingerprint, "scan");
    assert_int_equal(found->n_examples, 0);
    assert_int_equal(found->withheld, ERRATA__V1__WITHHELD__WITHHELD_SCAN);
    fixture_deinit(&fixture);
}

/* Goal: all documents are listed, each once, newest first, page by page, and pages need not be of one size.
 * Method: seven in pages of three, two and one, with the layout as filter. */
static void test_documents_are_listed_once_newest_first(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__ListDocumentsRequest list = ERRATA__V1__LIST_DOCUMENTS_REQUEST__INIT;
    Errata__V1__ListDocumentsResponse *page = NULL;
    Errata__V1__Document *document = NULL;
    char id[32];
    int next = 6;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    for (int i = 0; i < 7; i++) {
        (void)snprintf(id, sizeof(id), "document %d", i);
        clock_manual_advance(&fixture.clock, 1000000);
        assert_int_equal(ingest(&fixture, &start, id, CONTENT, &document), STATUS_OK);
    }
    start.path = "errata.v1.LayoutService/ListDocuments";
    list.layout_fingerprint = document->layout_fingerprint;
    list.page_size = 3;
    do {
        assert_int_equal(fixture_call(&fixture, &start, &list.base, &page), STATUS_OK);
        assert_int_equal(page->n_documents, list.page_size);
        for (size_t i = 0; i < page->n_documents; i++) {
            (void)snprintf(id, sizeof(id), "document %d", next--);
            assert_string_equal(page->documents[i]->document_id, id);
        }
        list.page_token = page->next_page_token;
        list.page_size = list.page_size > 1 ? list.page_size - 1 : 1;
    } while (list.page_token[0] != '\0');
    assert_int_equal(next, -1);
    fixture_deinit(&fixture);
}

/* Goal: all profiles are listed, each once, page by page. Method: three layouts, a page of two and
 * one of five. */
static void test_profiles_are_listed_once(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__ListProfilesRequest list = ERRATA__V1__LIST_PROFILES_REQUEST__INIT;
    Errata__V1__ListProfilesResponse *page = NULL;
    char id[32];

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    for (int i = 0; i < 3; i++) {
        (void)snprintf(id, sizeof(id), "document %d", i);
        fixture.documents.answer.tables.table_count = (uint32_t)i + 1;
        assert_int_equal(ingest(&fixture, &start, id, CONTENT, NULL), STATUS_OK);
    }
    start.path = "errata.v1.LayoutService/ListProfiles";
    list.page_size = 2;
    assert_int_equal(fixture_call(&fixture, &start, &list.base, &page), STATUS_OK);
    assert_int_equal(page->n_profiles, 2);
    list.page_token = page->next_page_token;
    list.page_size = 5;
    assert_int_equal(fixture_call(&fixture, &start, &list.base, &page), STATUS_OK);
    assert_int_equal(page->n_profiles, 1);
    assert_string_equal(page->next_page_token, "");
    fixture_deinit(&fixture);
}

int run_layout_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout_counts_each_document_once),
        cmocka_unit_test(test_document_with_cut_rulings_is_measured_again),
        cmocka_unit_test(test_documents_are_invisible_to_others),
        cmocka_unit_test(test_viewer_sees_no_text),
        cmocka_unit_test(test_correction_gets_layout_and_text_of_its_document),
        cmocka_unit_test(test_documents_are_listed_once_newest_first),
        cmocka_unit_test(test_profiles_are_listed_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
