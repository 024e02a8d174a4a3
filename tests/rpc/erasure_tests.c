/*
 * erasure_tests.c: AdminService/EraseContent through calls.
 */
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PATH "errata.v1.AdminService/EraseContent"
/* Number of events that take more than two steps. */
#define EVENTS (2 * ERASURE_STEP_EVENTS + 10)

/* Starts an erasure; its parts are run by fixture_run. */
static void begin(struct exchange *exchange, struct fixture *fixture, const char *token,
                  Errata__V1__EraseContentRequest *request)
{
    const struct exchange_start call = {.path = PATH, .authorization = token};

    request->reason = (char *)(uintptr_t) "request 17";
    exchange_open(exchange, fixture, &call);
    exchange_send(exchange, &request->base);
}

static Errata__V1__EraseContentResponse *next(struct exchange *exchange)
{
    return exchange_read(exchange, &errata__v1__erase_content_response__descriptor);
}

/* Runs an erasure to its end; returns the report, which follows messages with increasing
 * progress. */
static Errata__V1__EraseReport *erase(struct fixture *fixture, const char *token,
                                      Errata__V1__EraseContentRequest *request)
{
    struct exchange exchange;
    Errata__V1__EraseContentResponse *response = NULL;
    Errata__V1__EraseReport *report = NULL;
    uint64_t examined = 0;

    begin(&exchange, fixture, token, request);
    fixture_run(fixture);
    while ((response = next(&exchange)) != NULL) {
        assert_null(report);
        if (response->message_case == ERRATA__V1__ERASE_CONTENT_RESPONSE__MESSAGE_REPORT) {
            report = response->report;
        } else {
            assert_true(response->progress->examined_count >= examined);
            examined = response->progress->examined_count;
        }
    }
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_OK);
    assert_non_null(report);
    exchange_close(&exchange);
    return report;
}

/* Returns how many events of a layout have content. */
static size_t count_content(struct fixture *fixture)
{
    Errata__V1__ListEventsRequest request = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    Errata__V1__ListEventsResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.EventService/ListEvents",
                                         .authorization = fixture->admin};
    size_t count = 0;

    request.page_size = 1000;
    request.kind = ERRATA__V1__EVENT_KIND__EVENT_KIND_FEEDBACK;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    for (size_t i = 0; i < response->n_events; i++) {
        count += response->events[i]->feedback_event->after_json[0] != '\0' ? 1 : 0;
        assert_int_equal(response->events[i]->content_removed,
                         response->events[i]->feedback_event->after_json[0] == '\0');
    }
    return count;
}

/* Goal: the events of a user lose their content in several steps, and the report counts them; a dry run counts the same and
 * changes nothing; a second erasure finds nothing. Method: captures of one user. */
static void test_content_of_a_user_is_erased_and_reported(void **state)
{
    struct fixture fixture;
    Errata__V1__EraseContentRequest request = ERRATA__V1__ERASE_CONTENT_REQUEST__INIT;
    Errata__V1__EraseReport *report = NULL;
    Errata__V1__FeedbackEvent *captured = NULL;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < EVENTS; i++) {
        captured = fixture_capture(&fixture, fixture.admin, NULL, "layout");
    }
    request.user_id = captured->actor_user_id;
    request.dry_run = true;
    report = erase(&fixture, fixture.admin, &request);
    assert_true(report->dry_run);
    assert_int_equal(report->erased_count, EVENTS);
    assert_int_equal(count_content(&fixture), EVENTS);
    request.dry_run = false;
    report = erase(&fixture, fixture.admin, &request);
    assert_false(report->dry_run);
    assert_int_equal(report->erased_count, EVENTS);
    assert_int_equal(report->kinds[0]->kind, ERRATA__V1__EVENT_KIND__EVENT_KIND_FEEDBACK);
    assert_int_equal(report->kinds[0]->erased_count, EVENTS);
    assert_true(report->erased_bytes > EVENTS && report->facts_remain_count >= EVENTS);
    assert_int_equal(count_content(&fixture), 0);
    report = erase(&fixture, fixture.admin, &request);
    assert_int_equal(report->erased_count, 0);
    assert_int_equal(report->kinds[0]->removed_before_count, EVENTS);
    fixture_deinit(&fixture);
}

/* Goal: an erasure whose caller disconnects ends after its current part, and the next one continues; meanwhile another
 * one is refused. Method: the caller disconnects before the first part has run. */
static void test_cancelled_erasure_can_be_continued(void **state)
{
    struct fixture fixture;
    struct exchange first;
    struct exchange second;
    Errata__V1__EraseContentRequest request = ERRATA__V1__ERASE_CONTENT_REQUEST__INIT;
    char *ids[EVENTS];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < EVENTS; i++) {
        ids[i] = fixture_capture(&fixture, fixture.admin, NULL, "layout")->id;
    }
    request.event_ids = ids;
    request.n_event_ids = EVENTS;
    begin(&first, &fixture, fixture.admin, &request);
    begin(&second, &fixture, fixture.admin, &request);
    assert_int_equal(second.code, STATUS_FAILED_PRECONDITION);
    assert_true(slice_has(second.message, "another one is running"));
    exchange_close(&second);
    exchange_close(&first);
    fixture_run(&fixture);
    assert_true(count_content(&fixture) >= EVENTS - ERASURE_STEP_EVENTS);
    assert_int_equal(erase(&fixture, fixture.admin, &request)->erased_count, EVENTS);
    assert_int_equal(count_content(&fixture), 0);
    fixture_deinit(&fixture);
}

/* Sends a request that is refused, and checks code and message. */
static void expect_refused(struct fixture *fixture, const char *token,
                           Errata__V1__EraseContentRequest *request, enum status_code code,
                           const char *text)
{
    struct exchange exchange;

    begin(&exchange, fixture, token, request);
    fixture_run(fixture);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, code);
    assert_true(slice_has(exchange.message, text) || slice_has(exchange.details, text));
    exchange_close(&exchange);
}

/* Goal: invalid requests erase nothing. Method: no subject, two of them, an event that does not exist beside one that
 * does, and another organisation without the flag, by its id and by the id of an event. */
static void test_wrong_requests_are_refused(void **state)
{
    struct fixture fixture;
    Errata__V1__EraseContentRequest request = ERRATA__V1__ERASE_CONTENT_REQUEST__INIT;
    char other[FIXTURE_TOKEN_BYTES];
    char unknown[] = "01890000-0000-7000-8000-000000000000";
    char *ids[2] = {NULL, unknown};

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "second", other);
    ids[0] = fixture_capture(&fixture, fixture.admin, NULL, "layout")->id;
    expect_refused(&fixture, fixture.admin, &request, STATUS_INVALID_ARGUMENT, "event_ids");
    request.document_id = (char *)(uintptr_t) "d1";
    request.session_id = (char *)(uintptr_t) "s1";
    expect_refused(&fixture, fixture.admin, &request, STATUS_INVALID_ARGUMENT, "session_id");
    request = (Errata__V1__EraseContentRequest)ERRATA__V1__ERASE_CONTENT_REQUEST__INIT;
    request.event_ids = ids;
    request.n_event_ids = 2;
    expect_refused(&fixture, fixture.admin, &request, STATUS_NOT_FOUND, "event_ids[1]");
    request.n_event_ids = 1;
    expect_refused(&fixture, other, &request, STATUS_NOT_FOUND, "event_ids[0]");
    request.org_id = unknown;
    expect_refused(&fixture, fixture.admin, &request, STATUS_NOT_FOUND, "org_id");
    assert_int_equal(count_content(&fixture), 1);
    fixture_deinit(&fixture);
}

/* Goal: without room on the pool the call is refused, and the next one runs. Method: a full pool. */
static void test_full_pool_ends_it(void **state)
{
    struct fixture fixture;
    Errata__V1__EraseContentRequest request = ERRATA__V1__ERASE_CONTENT_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    request.document_id = (char *)(uintptr_t) "d1";
    fixture.pool_is_full = true;
    expect_refused(&fixture, fixture.admin, &request, STATUS_UNAVAILABLE, "");
    fixture.pool_is_full = false;
    assert_int_equal(erase(&fixture, fixture.admin, &request)->erased_count, 0);
    fixture_deinit(&fixture);
}

int run_erasure_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_of_a_user_is_erased_and_reported),
        cmocka_unit_test(test_cancelled_erasure_can_be_continued),
        cmocka_unit_test(test_wrong_requests_are_refused),
        cmocka_unit_test(test_full_pool_ends_it),
    };

    return cmocka_run_group_tests_name("erasure", tests, NULL, NULL);
}
