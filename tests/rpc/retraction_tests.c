/*
 * retraction_tests.c: EventService/RetractEvent through calls: permissions, the reports of reads, and the end
 * of all counts.
 */
#include "tests/rpc/extractions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct exchange_start retract_start = {.path = "errata.v1.EventService/RetractEvent"};

/* Retracts an event; returns the exchange with its code and message. */
static struct exchange retract_whole(struct fixture *fixture, const char *token,
                                     const char *event_id, const char *reason)
{
    Errata__V1__RetractEventRequest request = ERRATA__V1__RETRACT_EVENT_REQUEST__INIT;
    struct exchange_start start = retract_start;

    start.authorization = token;
    request.event_id = (char *)(uintptr_t)event_id;
    request.reason = (char *)(uintptr_t)reason;
    return fixture_call_whole(fixture, &start, &request.base);
}

static const Errata__V1__Retraction *retract(struct fixture *fixture, const char *token,
                                             const char *key, const char *event_id)
{
    Errata__V1__RetractEventRequest request = ERRATA__V1__RETRACT_EVENT_REQUEST__INIT;
    Errata__V1__RetractEventResponse *response = NULL;
    struct exchange_start start = retract_start;
    char reason[] = "wrong invoice";

    start.authorization = token;
    start.idempotency_key = key;
    request.event_id = (char *)(uintptr_t)event_id;
    request.reason = reason;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->retraction;
}

static const Errata__V1__Event *get_event(struct fixture *fixture, const char *token,
                                          const char *id)
{
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    Errata__V1__GetEventResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.EventService/GetEvent",
                                         .authorization = token};

    request.key_case = ERRATA__V1__GET_EVENT_REQUEST__KEY_ID;
    request.id = (char *)(uintptr_t)id;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->event;
}

static const Errata__V1__ListFeedbackEventsResponse *list_feedback(struct fixture *fixture)
{
    Errata__V1__ListFeedbackEventsRequest request = ERRATA__V1__LIST_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__ListFeedbackEventsResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/ListFeedbackEvents",
                                         .authorization = fixture->admin};

    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response;
}

static size_t count_examples(struct fixture *fixture, const char *layout, uint64_t as_of_seq)
{
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples",
                                         .authorization = fixture->admin};

    request.layout_fingerprint = (char *)(uintptr_t)layout;
    if (as_of_seq != 0) {
        request.as_of_case = ERRATA__V1__GET_EXAMPLES_REQUEST__AS_OF_AS_OF_SEQ;
        request.as_of_seq = as_of_seq;
    }
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->n_examples;
}

/* Goal: a retracted event is not served as an example any more, except to the past; reads report the time, the
 * actor and the reason, but not the reason to a VIEWER; repeats get the first result. Method: two corrections of a
 * layout, one of which is retracted, with a key. */
static void test_retracted_event_stays_in_lists(void **state)
{
    const Errata__V1__ListFeedbackEventsResponse *list = NULL;
    const Errata__V1__Retraction *first = NULL;
    const Errata__V1__Event *event = NULL;
    char viewer[FIXTURE_TOKEN_BYTES];
    char reviewer[FIXTURE_TOKEN_BYTES];
    const char *id = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    fixture_make_token(&fixture, fixture.admin, ROLE_REVIEWER, reviewer);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "acme");
    id = fixture_capture(&fixture, fixture.admin, NULL, "acme")->id;
    assert_int_equal(count_examples(&fixture, "acme", 0), 2);
    first = retract(&fixture, fixture.admin, "key", id);
    assert_string_equal(first->event_id, id);
    assert_string_equal(first->reason, "wrong invoice");
    assert_int_equal(retract(&fixture, fixture.admin, "key", id)->seq, first->seq);
    assert_int_equal(retract(&fixture, reviewer, NULL, id)->seq, first->seq);
    assert_int_equal(count_examples(&fixture, "acme", 0), 1);
    assert_int_equal(count_examples(&fixture, "acme", first->seq - 1), 2);
    assert_int_equal(count_examples(&fixture, "acme", first->seq), 1);
    event = get_event(&fixture, reviewer, id);
    assert_non_null(event->retracted_at);
    assert_string_equal(event->retracted_by, first->retracted_by);
    assert_string_equal(event->retraction_reason, "wrong invoice");
    event = get_event(&fixture, viewer, id);
    assert_non_null(event->retracted_at);
    assert_true(event->_retraction_reason_case == 0);
    event = get_event(&fixture, viewer, first->id);
    assert_int_equal(event->kind, ERRATA__V1__EVENT_KIND__EVENT_KIND_RETRACTED);
    assert_string_equal(event->event_retracted->retracted_event_id, id);
    assert_string_equal(event->event_retracted->reason, "");
    list = list_feedback(&fixture);
    assert_int_equal(list->n_events, 2);
    assert_non_null(list->events[0]->retracted_at);
    assert_string_equal(list->events[0]->retraction_reason, "wrong invoice");
    assert_null(list->events[1]->retracted_at);
    fixture_deinit(&fixture);
}

/* Goal: only OPERATOR, REVIEWER and ADMIN tokens retract, an OPERATOR only events of its user; no event of
 * another organisation is found. Method: each role; an event of the administrator and one of the operator. */
static void test_only_permitted_roles_retract(void **state)
{
    static const struct {
        enum role role;
        enum status_code code;
    } cases[] = {{ROLE_VIEWER, STATUS_PERMISSION_DENIED},
                 {ROLE_OPERATOR, STATUS_PERMISSION_DENIED},
                 {ROLE_SERVICE, STATUS_PERMISSION_DENIED},
                 {ROLE_INTEGRATOR, STATUS_PERMISSION_DENIED},
                 {ROLE_REVIEWER, STATUS_OK}};
    char other[FIXTURE_TOKEN_BYTES];
    char token[FIXTURE_TOKEN_BYTES];
    const char *id = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "other", other);
    id = fixture_capture(&fixture, fixture.admin, NULL, "acme")->id;
    assert_int_equal(retract_whole(&fixture, other, id, "a reason").code, STATUS_NOT_FOUND);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture_make_token(&fixture, fixture.admin, cases[i].role, token);
        assert_int_equal(retract_whole(&fixture, token, id, "a reason").code, cases[i].code);
    }
    fixture_make_token(&fixture, fixture.admin, ROLE_OPERATOR, token);
    id = fixture_capture(&fixture, token, NULL, "acme")->id;
    assert_int_equal(retract_whole(&fixture, token, id, "my mistake").code, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: a refused request is answered with the problem and the remedy. Method: no reason, no id, an unknown id,
 * and an event of another kind. */
static void test_refusals_name_the_next_step(void **state)
{
    const Errata__V1__Retraction *retraction = NULL;
    struct exchange exchange;
    struct fixture fixture;
    const char *id = NULL;

    (void)state;
    fixture_init(&fixture);
    id = fixture_capture(&fixture, fixture.admin, NULL, "acme")->id;
    exchange = retract_whole(&fixture, fixture.admin, "", "");
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.message, "event_id: missing"));
    assert_true(slice_has(exchange.message, "reason: missing"));
    exchange =
        retract_whole(&fixture, fixture.admin, "0192f0c0-1111-7222-8333-444455556666", "why");
    assert_int_equal(exchange.code, STATUS_NOT_FOUND);
    retraction = retract(&fixture, fixture.admin, NULL, id);
    exchange = retract_whole(&fixture, fixture.admin, retraction->id, "why");
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    assert_true(slice_has(exchange.message, "event_id: an event of kind RETRACTED cannot be "
                                            "retracted; expected a correction"));
    fixture_deinit(&fixture);
}

int run_retraction_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retracted_event_stays_in_lists),
        cmocka_unit_test(test_only_permitted_roles_retract),
        cmocka_unit_test(test_refusals_name_the_next_step),
    };

    return cmocka_run_group_tests_name("retractions", tests, NULL, NULL);
}
