/*
 * calls.c: see explain.h.
 */
#include "tests/explain/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

Errata__V1__ExplainExposureRequest explain_of_reference(const char *reference)
{
    Errata__V1__ExplainExposureRequest request = ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__INIT;

    request.exposure_case = ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__EXPOSURE_EXPOSURE_REF;
    request.exposure_ref = text_of(reference);
    return request;
}

Errata__V1__ExplainExposureRequest explain_of_id(const char *exposure_id)
{
    Errata__V1__ExplainExposureRequest request = ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__INIT;

    request.exposure_case = ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__EXPOSURE_EXPOSURE_ID;
    request.exposure_id = text_of(exposure_id);
    return request;
}

enum status_code explain_try(struct fixture *fixture, const char *token,
                             const Errata__V1__ExplainExposureRequest *request,
                             Errata__V1__ExplainExposureResponse **ret_response)
{
    const struct exchange_start start = {.path = "errata.v1.LearningService/ExplainExposure",
                                         .authorization = token};

    return fixture_call(fixture, &start, &request->base, ret_response);
}

Errata__V1__ExplainExposureResponse *explain(struct fixture *fixture,
                                             const Errata__V1__ExplainExposureRequest *request)
{
    Errata__V1__ExplainExposureResponse *response = NULL;

    assert_int_equal(explain_try(fixture, fixture->admin, request, &response), STATUS_OK);
    assert_non_null(response);
    return response;
}

const char *explain_capture(struct fixture *fixture, const struct explain_correction *correction)
{
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = fixture->admin};

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event._layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    event.layout_fingerprint = text_of(correction->layout);
    if (correction->document_id != NULL) {
        event._document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
        event.document_id = text_of(correction->document_id);
    }
    if (correction->entity_id != NULL) {
        event._entity_type_case = ERRATA__V1__FEEDBACK_EVENT___ENTITY_TYPE_ENTITY_TYPE;
        event.entity_type = text_of("line");
        event._entity_id_case = ERRATA__V1__FEEDBACK_EVENT___ENTITY_ID_ENTITY_ID;
        event.entity_id = text_of(correction->entity_id);
    }
    event._actor_user_id_case = ERRATA__V1__FEEDBACK_EVENT___ACTOR_USER_ID_ACTOR_USER_ID;
    event.actor_user_id = text_of("ada"); /* a person: examples are those of people */
    event.before_json = text_of("{}");
    event.after_json = text_of(correction->after);
    event.meta_json = text_of(correction->meta != NULL ? correction->meta : "");
    request.event = &event;
    clock_manual_advance(&fixture->clock, 1000000);
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->event->id;
}
