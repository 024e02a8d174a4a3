/*
 * feedback_list_tests.c: ListFeedbackEvents through calls: the events of one document and of one draft order.
 */
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errata/v1/feedback_service.pb-c.h>

/* Events that name neither a document nor an order, in one batch. Three of them are more than one
 * call examines. */
#define OTHERS 1000

static Errata__V1__FeedbackEvent correction(const char *draft_order_id, const char *document_id)
{
    static char after[] = "{\"qty\":12}";
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event.after_json = after;
    if (draft_order_id != NULL) {
        event._draft_order_id_case = ERRATA__V1__FEEDBACK_EVENT___DRAFT_ORDER_ID_DRAFT_ORDER_ID;
        event.draft_order_id = (char *)(uintptr_t)draft_order_id;
    }
    if (document_id != NULL) {
        event._document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
        event.document_id = (char *)(uintptr_t)document_id;
    }
    return event;
}

static void capture(struct fixture *fixture, const char *draft_order_id, const char *document_id)
{
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = fixture->admin};
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__FeedbackEvent event = correction(draft_order_id, document_id);

    request.event = &event;
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

static void capture_others(struct fixture *fixture)
{
    static Errata__V1__FeedbackEvent events[OTHERS];
    static Errata__V1__FeedbackEvent *list[OTHERS];
    const struct exchange_start start = {.path =
                                             "errata.v1.FeedbackService/BatchCaptureFeedbackEvents",
                                         .authorization = fixture->admin};
    Errata__V1__BatchCaptureFeedbackEventsRequest request =
        ERRATA__V1__BATCH_CAPTURE_FEEDBACK_EVENTS_REQUEST__INIT;

    for (size_t i = 0; i < OTHERS; i++) {
        events[i] = correction(NULL, NULL);
        list[i] = &events[i];
    }
    request.n_events = OTHERS;
    request.events = list;
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

/* Returns the number of events of the first page, which must be the only one. */
static size_t count_listed(struct fixture *fixture, const char *draft_order_id,
                           const char *document_id)
{
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/ListFeedbackEvents",
                                         .authorization = fixture->admin};
    Errata__V1__ListFeedbackEventsRequest request = ERRATA__V1__LIST_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__ListFeedbackEventsResponse *response = NULL;

    request.draft_order_id = (char *)(uintptr_t)draft_order_id;
    request.document_id = (char *)(uintptr_t)document_id;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    assert_string_equal(response->next_page_token, "");
    return response->n_events;
}

/* Goal: one call lists the corrections of an order or a document, for any number of other events. Method:
 * three events of an order, two of a document, more others than a call examines; every combination of both. */
static void test_corrections_are_filtered_by_order_and_document(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    capture(&fixture, "order-1", NULL);
    capture(&fixture, "order-1", "document-1");
    capture(&fixture, NULL, "document-1");
    for (int i = 0; i < 3; i++) {
        capture_others(&fixture);
    }
    capture(&fixture, "order-1", "document-2");
    assert_int_equal(count_listed(&fixture, "order-1", ""), 3);
    assert_int_equal(count_listed(&fixture, "", "document-1"), 2);
    assert_int_equal(count_listed(&fixture, "order-1", "document-1"), 1);
    assert_int_equal(count_listed(&fixture, "order-2", "document-1"), 0);
    assert_int_equal(count_listed(&fixture, "document-1", ""), 0);
    fixture_deinit(&fixture);
}

int run_feedback_list_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corrections_are_filtered_by_order_and_document),
    };

    return cmocka_run_group_tests_name("rpc: feedback lists", tests, NULL, NULL);
}
