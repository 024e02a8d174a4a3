/*
 * extractions.c: see extractions.h.
 */
#include "tests/rpc/extractions.h"

#include "server/domain/experiment/records.h"
#include "server/domain/layouts/keys.h"
#include "store/base/assert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RECORD "errata.v1.ExtractionService/RecordExtraction"
#define EXAMPLES "errata.v1.PromptService/GetExamples"
#define CAPTURE "errata.v1.FeedbackService/CaptureFeedbackEvent"
#define LIST "errata.v1.EventService/ListEvents"

char *extractions_text(const char *text)
{
    return (char *)(uintptr_t)text;
}

static size_t count_texts(const char *const *texts)
{
    size_t count = 0;

    while (count < REFERENCES_MAX && texts[count] != NULL) {
        count++;
    }
    return count;
}

static void fill(Errata__V1__Extraction *extraction, Google__Protobuf__Timestamp *time,
                 const struct sent *sent)
{
    errata__v1__extraction__init(extraction);
    google__protobuf__timestamp__init(time);
    if (sent->extraction_id != NULL) {
        extraction->_extraction_id_case = ERRATA__V1__EXTRACTION___EXTRACTION_ID_EXTRACTION_ID;
        extraction->extraction_id = extractions_text(sent->extraction_id);
    }
    if (sent->document_id != NULL) {
        extraction->_document_id_case = ERRATA__V1__EXTRACTION___DOCUMENT_ID_DOCUMENT_ID;
        extraction->document_id = extractions_text(sent->document_id);
    }
    if (sent->draft_order_id != NULL) {
        extraction->_draft_order_id_case = ERRATA__V1__EXTRACTION___DRAFT_ORDER_ID_DRAFT_ORDER_ID;
        extraction->draft_order_id = extractions_text(sent->draft_order_id);
    }
    if (sent->layout != NULL) {
        extraction->layout_fingerprint = extractions_text(sent->layout);
    }
    if (sent->confidence >= 0) {
        extraction->_confidence_case = ERRATA__V1__EXTRACTION___CONFIDENCE_CONFIDENCE;
        extraction->confidence = sent->confidence;
    }
    if (sent->field_count > 0) {
        extraction->_field_count_case = ERRATA__V1__EXTRACTION___FIELD_COUNT_FIELD_COUNT;
        extraction->field_count = sent->field_count;
    }
    extraction->n_exposure_refs = count_texts(sent->references);
    extraction->exposure_refs = (char **)(uintptr_t)sent->references;
    extraction->n_example_ids = count_texts(sent->example_ids);
    extraction->example_ids = (char **)(uintptr_t)sent->example_ids;
    if (sent->created_at_us != 0) {
        time->seconds = sent->created_at_us / 1000000;
        time->nanos = (int32_t)(sent->created_at_us % 1000000 * 1000);
        extraction->created_at = time;
    }
}

void extractions_send(struct exchange *exchange, struct fixture *fixture,
                      const struct exchange_start *start, const struct sent *sent)
{
    Errata__V1__RecordExtractionRequest request = ERRATA__V1__RECORD_EXTRACTION_REQUEST__INIT;
    Google__Protobuf__Timestamp time;
    Errata__V1__Extraction extraction;

    fill(&extraction, &time, sent);
    request.extraction = &extraction;
    exchange_open(exchange, fixture, start);
    exchange_send(exchange, &request.base);
}

struct exchange extractions_try(struct fixture *fixture, const char *token, const char *key,
                                const struct sent *sent, Errata__V1__Extraction **ret_extraction)
{
    const struct exchange_start start = {
        .path = RECORD, .authorization = token, .idempotency_key = key};
    Errata__V1__RecordExtractionResponse *response = NULL;
    struct exchange exchange;

    extractions_send(&exchange, fixture, &start, sent);
    fixture_run(fixture);
    assert_true(exchange.ended);
    if (exchange.code == STATUS_OK) {
        response = exchange_read(&exchange, &errata__v1__record_extraction_response__descriptor);
        assert_non_null(response);
        *ret_extraction = response->extraction;
    }
    exchange_close(&exchange);
    return exchange;
}

Errata__V1__Extraction *extractions_record(struct fixture *fixture, const struct sent *sent)
{
    Errata__V1__Extraction *extraction = NULL;

    assert_int_equal(extractions_try(fixture, fixture->admin, NULL, sent, &extraction).code,
                     STATUS_OK);
    ASSERT(extraction != NULL);
    return extraction;
}

Errata__V1__GetExamplesResponse *extractions_examples_as(struct fixture *fixture, const char *token,
                                                         const char *layout,
                                                         const char *document_id,
                                                         int32_t max_examples)
{
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *response = NULL;
    const struct exchange_start start = {.path = EXAMPLES, .authorization = token};

    request.layout_fingerprint = extractions_text(layout);
    request.max_examples = max_examples;
    if (document_id != NULL) {
        request._document_id_case = ERRATA__V1__GET_EXAMPLES_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
        request.document_id = extractions_text(document_id);
    }
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    assert_true(strlen(response->exposure_ref) > 0);
    return response;
}

Errata__V1__GetExamplesResponse *extractions_examples(struct fixture *fixture, const char *layout,
                                                      const char *document_id)
{
    return extractions_examples_as(fixture, fixture->admin, layout, document_id, 3);
}

void extractions_set_holdout(struct fixture *fixture, uint32_t percent)
{
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;
    Errata__V1__UpdateSettingsRequest request = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.AdminService/UpdateSettings",
                                         .authorization = fixture->admin};

    settings._holdout_percent_case =
        ERRATA__V1__ORGANIZATION_SETTINGS___HOLDOUT_PERCENT_HOLDOUT_PERCENT;
    settings.holdout_percent = percent;
    request.settings = &settings;
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

Errata__V1__FeedbackEvent *extractions_correct(struct fixture *fixture,
                                               const struct correction *correction)
{
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;
    const struct exchange_start start = {.path = CAPTURE, .authorization = fixture->admin};

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    if (correction->document_id != NULL) {
        event._document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
        event.document_id = extractions_text(correction->document_id);
    }
    if (correction->draft_order_id != NULL) {
        event._draft_order_id_case = ERRATA__V1__FEEDBACK_EVENT___DRAFT_ORDER_ID_DRAFT_ORDER_ID;
        event.draft_order_id = extractions_text(correction->draft_order_id);
    }
    if (correction->layout != NULL) {
        event._layout_fingerprint_case =
            ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
        event.layout_fingerprint = extractions_text(correction->layout);
    }
    if (correction->entity_id != NULL) {
        event._entity_type_case = ERRATA__V1__FEEDBACK_EVENT___ENTITY_TYPE_ENTITY_TYPE;
        event.entity_type = extractions_text("line");
        event._entity_id_case = ERRATA__V1__FEEDBACK_EVENT___ENTITY_ID_ENTITY_ID;
        event.entity_id = extractions_text(correction->entity_id);
    }
    event.before_json = extractions_text("{}");
    event.after_json = extractions_text(correction->after);
    request.event = &event;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    return response->event;
}

size_t extractions_count_events(struct fixture *fixture, Errata__V1__EventKind kind)
{
    Errata__V1__ListEventsRequest request = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    Errata__V1__ListEventsResponse *response = NULL;
    const struct exchange_start start = {.path = LIST, .authorization = fixture->admin};

    request.page_size = 1000;
    request.kind = kind;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    return response->n_events;
}

struct org_id extractions_org_of(const char *org_id)
{
    struct org_id org;

    assert_true(uuid_parse(slice_text(org_id), &org.uuid));
    return org;
}

struct layout_stats_record extractions_stats_of(struct fixture *fixture, const char *org_id,
                                                const char *layout)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(slice_text(layout));
    struct key key = key_layout_stats(extractions_org_of(org_id), &fingerprint);
    struct layout_stats_record stats = {.extraction_count = 0};
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(store_get(txn, TABLE_LAYOUT_STATS, key_slice(&key), &value), OK);
    assert_int_equal(record_decode_layout_stats(value, &stats), OK);
    store_abort(txn);
    return stats;
}
