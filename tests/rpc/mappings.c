/*
 * mappings.c: see mappings.h.
 */
#include "tests/rpc/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define LINES_MAX 1000

static char *text(const char *literal)
{
    return (char *)(uintptr_t)literal;
}

static struct exchange_start start_of(const struct caller *caller, const char *path)
{
    return (struct exchange_start){
        .path = path, .authorization = caller->token, .idempotency_key = caller->key};
}

static Google__Protobuf__Timestamp time_of(const struct caller *caller)
{
    Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;

    time.seconds = caller->created_at_us / 1000000;
    time.nanos = (int32_t)(caller->created_at_us % 1000000 * 1000);
    return time;
}

enum status_code mappings_suggest(const struct caller *caller, const struct named *named,
                                  double confidence, Errata__V1__SkuMapping **ret_mapping)
{
    const struct exchange_start start = start_of(caller, "errata.v1.MappingService/SuggestMapping");
    Google__Protobuf__Timestamp time = time_of(caller);
    Errata__V1__SkuMapping mapping = ERRATA__V1__SKU_MAPPING__INIT;
    Errata__V1__SuggestMappingRequest request = ERRATA__V1__SUGGEST_MAPPING_REQUEST__INIT;
    Errata__V1__SuggestMappingResponse *response = NULL;
    enum status_code code = STATUS_OK;

    mapping.customer_id = text(named->customer_id);
    mapping.customer_sku = text(named->customer_sku);
    mapping.internal_sku = text(named->internal_sku);
    mapping.created_at = caller->created_at_us != 0 ? &time : NULL;
    if (confidence >= 0) {
        mapping._confidence_case = ERRATA__V1__SKU_MAPPING___CONFIDENCE_CONFIDENCE;
        mapping.confidence = confidence;
    }
    request.mapping = &mapping;
    code = fixture_call(caller->fixture, &start, &request.base, &response);
    if (code == STATUS_OK && ret_mapping != NULL) {
        *ret_mapping = response->mapping;
    }
    return code;
}

enum status_code mappings_confirm(const struct caller *caller, const struct named *named,
                                  const char *suggestions_json, struct judged *ret_judged)
{
    const struct exchange_start start = start_of(caller, "errata.v1.MappingService/ConfirmMapping");
    Google__Protobuf__Timestamp time = time_of(caller);
    Errata__V1__ConfirmMappingRequest request = ERRATA__V1__CONFIRM_MAPPING_REQUEST__INIT;
    Errata__V1__ConfirmMappingResponse *response = NULL;
    enum status_code code = STATUS_OK;

    if (named->id != NULL) {
        request._id_case = ERRATA__V1__CONFIRM_MAPPING_REQUEST___ID_ID;
        request.id = text(named->id);
    }
    if (named->customer_id != NULL) {
        request._customer_id_case = ERRATA__V1__CONFIRM_MAPPING_REQUEST___CUSTOMER_ID_CUSTOMER_ID;
        request.customer_id = text(named->customer_id);
    }
    if (named->customer_sku != NULL) {
        request._customer_sku_case =
            ERRATA__V1__CONFIRM_MAPPING_REQUEST___CUSTOMER_SKU_CUSTOMER_SKU;
        request.customer_sku = text(named->customer_sku);
    }
    if (named->internal_sku != NULL) {
        request._internal_sku_case =
            ERRATA__V1__CONFIRM_MAPPING_REQUEST___INTERNAL_SKU_INTERNAL_SKU;
        request.internal_sku = text(named->internal_sku);
    }
    if (suggestions_json != NULL) {
        request.suggestions_json = text(suggestions_json);
    }
    request.created_at = caller->created_at_us != 0 ? &time : NULL;
    code = fixture_call(caller->fixture, &start, &request.base, &response);
    if (code == STATUS_OK && ret_judged != NULL) {
        *ret_judged = (struct judged){response->mapping, response->event_id};
    }
    return code;
}

enum status_code mappings_reject(const struct caller *caller, const struct named *named,
                                 struct judged *ret_judged)
{
    const struct exchange_start start = start_of(caller, "errata.v1.MappingService/RejectMapping");
    Google__Protobuf__Timestamp time = time_of(caller);
    Errata__V1__RejectMappingRequest request = ERRATA__V1__REJECT_MAPPING_REQUEST__INIT;
    Errata__V1__RejectMappingResponse *response = NULL;
    enum status_code code = STATUS_OK;

    if (named->id != NULL) {
        request._id_case = ERRATA__V1__REJECT_MAPPING_REQUEST___ID_ID;
        request.id = text(named->id);
    }
    if (named->customer_id != NULL) {
        request._customer_id_case = ERRATA__V1__REJECT_MAPPING_REQUEST___CUSTOMER_ID_CUSTOMER_ID;
        request.customer_id = text(named->customer_id);
    }
    if (named->customer_sku != NULL) {
        request._customer_sku_case = ERRATA__V1__REJECT_MAPPING_REQUEST___CUSTOMER_SKU_CUSTOMER_SKU;
        request.customer_sku = text(named->customer_sku);
    }
    if (named->internal_sku != NULL) {
        request._internal_sku_case = ERRATA__V1__REJECT_MAPPING_REQUEST___INTERNAL_SKU_INTERNAL_SKU;
        request.internal_sku = text(named->internal_sku);
    }
    request.created_at = caller->created_at_us != 0 ? &time : NULL;
    code = fixture_call(caller->fixture, &start, &request.base, &response);
    if (code == STATUS_OK && ret_judged != NULL) {
        *ret_judged = (struct judged){response->mapping, response->event_id};
    }
    return code;
}

enum status_code mappings_get(const struct caller *caller, const char *id,
                              Errata__V1__SkuMapping **ret_mapping)
{
    const struct exchange_start start = start_of(caller, "errata.v1.MappingService/GetMapping");
    Errata__V1__GetMappingRequest request = ERRATA__V1__GET_MAPPING_REQUEST__INIT;
    Errata__V1__GetMappingResponse *response = NULL;
    enum status_code code = STATUS_OK;

    request.id = text(id);
    code = fixture_call(caller->fixture, &start, &request.base, &response);
    if (code == STATUS_OK && ret_mapping != NULL) {
        *ret_mapping = response->mapping;
    }
    return code;
}

enum status_code mappings_try_match(const struct caller *caller, const struct lines *lines,
                                    Errata__V1__MatchLinesResponse **ret_response)
{
    static Errata__V1__DraftLine messages[LINES_MAX];
    static Errata__V1__DraftLine *pointers[LINES_MAX];
    const struct exchange_start start = start_of(caller, "errata.v1.MappingService/MatchLines");
    Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__MatchLinesRequest request = ERRATA__V1__MATCH_LINES_REQUEST__INIT;

    assert_true(lines->count <= LINES_MAX);
    for (size_t i = 0; i < lines->count; i++) {
        errata__v1__draft_line__init(&messages[i]);
        messages[i].customer_id = text(lines->customer_id);
        messages[i].customer_sku = text(lines->skus[i]);
        pointers[i] = &messages[i];
    }
    request.n_lines = lines->count;
    request.lines = pointers;
    if (lines->candidates >= 0) {
        request._max_candidates_case =
            ERRATA__V1__MATCH_LINES_REQUEST___MAX_CANDIDATES_MAX_CANDIDATES;
        request.max_candidates = lines->candidates;
    }
    if (lines->as_of_seq != 0) {
        request.as_of_case = ERRATA__V1__MATCH_LINES_REQUEST__AS_OF_AS_OF_SEQ;
        request.as_of_seq = lines->as_of_seq;
    }
    if (lines->as_of_us != 0) {
        request.as_of_case = ERRATA__V1__MATCH_LINES_REQUEST__AS_OF_AS_OF_TIME;
        request.as_of_time = &time;
        time.seconds = lines->as_of_us / 1000000;
        time.nanos = (int32_t)(lines->as_of_us % 1000000 * 1000);
    }
    return fixture_call(caller->fixture, &start, &request.base, ret_response);
}

Errata__V1__MatchLinesResponse *mappings_match(const struct caller *caller,
                                               const struct lines *lines)
{
    Errata__V1__MatchLinesResponse *response = NULL;

    assert_int_equal(mappings_try_match(caller, lines, &response), STATUS_OK);
    assert_int_equal(response->n_lines, lines->count);
    return response;
}

Errata__V1__LineMatch *mappings_match_one(const struct caller *caller, const char *customer_id,
                                          const char *sku)
{
    const struct lines lines = {customer_id, &sku, 1, -1, 0, 0};

    return mappings_match(caller, &lines)->lines[0];
}

enum status_code mappings_record(const struct caller *caller, const char *exposure_ref,
                                 const char *draft_order_id,
                                 Errata__V1__RecordMatchesResponse **ret_response)
{
    const struct exchange_start start = start_of(caller, "errata.v1.MappingService/RecordMatches");
    Google__Protobuf__Timestamp time = time_of(caller);
    Errata__V1__RecordMatchesRequest request = ERRATA__V1__RECORD_MATCHES_REQUEST__INIT;

    request.exposure_ref = text(exposure_ref);
    if (draft_order_id != NULL) {
        request._draft_order_id_case =
            ERRATA__V1__RECORD_MATCHES_REQUEST___DRAFT_ORDER_ID_DRAFT_ORDER_ID;
        request.draft_order_id = text(draft_order_id);
    }
    request.created_at = caller->created_at_us != 0 ? &time : NULL;
    return fixture_call(caller->fixture, &start, &request.base, ret_response);
}

uint64_t mappings_last_seq(const struct caller *caller)
{
    Errata__V1__ListEventsRequest request = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    Errata__V1__ListEventsResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.EventService/ListEvents",
                                         .authorization = caller->token};

    request.page_size = 1;
    assert_int_equal(fixture_call(caller->fixture, &start, &request.base, &response), STATUS_OK);
    return response->n_events == 0 ? 0 : response->events[0]->seq;
}

Errata__V1__FeedbackEvent *mappings_event(const struct caller *caller, const char *event_id)
{
    Errata__V1__GetFeedbackEventRequest request = ERRATA__V1__GET_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__GetFeedbackEventResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/GetFeedbackEvent",
                                         .authorization = caller->token};

    request.id = text(event_id);
    assert_int_equal(fixture_call(caller->fixture, &start, &request.base, &response), STATUS_OK);
    return response->event;
}
