/*
 * verify_tests.c: AdminService/Verify through calls, over a verification that a test controls.
 */
#include "tests/rpc/fixture.h"

#include "server/pipeline/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PATH "errata.v1.AdminService/Verify"

/* Replaces the app's verification. */
struct fake {
    struct verify_jobs jobs;
    struct verify_state state;
    struct org_id org; /* organisation of the stream that started it */
    unsigned starts;
    unsigned cancels;
    enum err start_result;
};

static enum err start(void *user, struct org_id org, struct fault *fault)
{
    struct fake *fake = user;

    if (fake->start_result != OK) {
        return fault_say(fault, fake->start_result, "not now");
    }
    fake->starts++;
    fake->org = org;
    fake->state = (struct verify_state){.version = 1};
    return OK;
}

static const struct verify_state *state_of(void *user)
{
    return &((struct fake *)user)->state;
}

static void cancel(void *user)
{
    ((struct fake *)user)->cancels++;
}

static void init(struct fixture *fixture, struct fake *fake)
{
    fixture_init(fixture);
    *fake = (struct fake){.jobs = {fake, start, state_of, cancel}};
    fixture->pipeline->config.verify = &fake->jobs;
}

static void finish_step(struct fixture *fixture, struct fake *fake)
{
    fake->state.version++;
    pipeline_wake_verify(fixture->pipeline, fake->org);
    fixture_run(fixture);
}

static void begin(struct exchange *exchange, struct fixture *fixture, const char *token)
{
    const struct exchange_start call = {.path = PATH, .authorization = token};
    Errata__V1__VerifyRequest request = ERRATA__V1__VERIFY_REQUEST__INIT;

    exchange_open(exchange, fixture, &call);
    exchange_send(exchange, &request.base);
    fixture_run(fixture);
}

static Errata__V1__VerifyResponse *next(struct exchange *exchange)
{
    return exchange_read(exchange, &errata__v1__verify_response__descriptor);
}

/* Goal: a caller gets each change once, and finally the findings, and the stream ends. Method: a
 * verification that advances step by step, with two commits of the organisation in between. */
static void test_verify_streams_progress_then_findings(void **state)
{
    struct fixture fixture;
    struct fake fake;
    struct exchange exchange;
    Errata__V1__VerifyResponse *response = NULL;

    (void)state;
    init(&fixture, &fake);
    begin(&exchange, &fixture, fixture.admin);
    response = next(&exchange);
    assert_int_equal(response->message_case, ERRATA__V1__VERIFY_RESPONSE__MESSAGE_PROGRESS);
    assert_int_equal(response->progress->step, ERRATA__V1__VERIFY_STEP__VERIFY_STEP_COPY);
    fake.state.copied_bytes = 7;
    fake.state.copied_bytes_total = 9;
    finish_step(&fixture, &fake);
    response = next(&exchange);
    assert_int_equal(response->progress->copied_bytes, 7);
    assert_int_equal(response->progress->copied_bytes_total, 9);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    assert_null(next(&exchange)); /* a commit is not one of its changes */
    fake.state.stage = VERIFY_AT_COMPARE;
    fake.state.events = 3;
    fake.state.events_total = 4;
    fake.state.rows = 5;
    finish_step(&fixture, &fake);
    response = next(&exchange);
    assert_int_equal(response->progress->step, ERRATA__V1__VERIFY_STEP__VERIFY_STEP_COMPARE);
    assert_int_equal(response->progress->events, 3);
    assert_int_equal(response->progress->events_total, 4);
    assert_int_equal(response->progress->rows, 5);
    assert_int_equal(response->message_case, ERRATA__V1__VERIFY_RESPONSE__MESSAGE_PROGRESS);
    assert_false(exchange.ended);
    fake.state.ended = true;
    fake.state.report = (struct replay_report){.organizations = 1, .events = 4, .rows = 9};
    finish_step(&fixture, &fake);
    response = next(&exchange);
    assert_int_equal(response->message_case, ERRATA__V1__VERIFY_RESPONSE__MESSAGE_REPORT);
    assert_true(response->report->clean);
    assert_int_equal(response->report->organizations, 1);
    assert_int_equal(response->report->events, 4);
    assert_int_equal(response->report->rows, 9);
    assert_string_equal(response->report->damage, "");
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_OK);
    assert_int_equal(fake.cancels, 1);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: the reply has all findings. Method: a report with more differences than are listed, and a
 * broken event; another of a damaged file. */
static void test_all_findings_are_returned(void **state)
{
    static const enum replay_difference_kind kinds[] = {REPLAY_ROW_MISSING, REPLAY_ROW_EXTRA,
                                                        REPLAY_ROW_OTHER};
    struct fixture fixture;
    struct fake fake;
    struct exchange exchange;
    Errata__V1__VerifyReport *report = NULL;

    (void)state;
    init(&fixture, &fake);
    begin(&exchange, &fixture, fixture.admin);
    (void)next(&exchange);
    fake.state.ended = true;
    fake.state.report.difference_count = 1234;
    for (size_t i = 0; i < REPLAY_DIFFERENCES_MAX; i++) {
        fake.state.report.differences[i] = (struct replay_difference){
            .kind = kinds[i % 3], .table = TABLE_COUNTER, .key = {0x01, 0xfe}, .key_bytes = 2};
    }
    fake.state.report.broken_count = 2;
    fake.state.report.broken_seq = 77;
    fake.state.report.broken_by = REPLAY_GAP;
    finish_step(&fixture, &fake);
    report = next(&exchange)->report;
    assert_false(report->clean);
    assert_int_equal(report->difference_count, 1234);
    assert_int_equal(report->n_differences, REPLAY_DIFFERENCES_MAX);
    for (size_t i = 0; i < report->n_differences; i++) {
        assert_int_equal(report->differences[i]->kind, 1 + i % 3);
        assert_string_equal(report->differences[i]->table, "counter");
        assert_string_equal(report->differences[i]->key_hex, "01fe");
    }
    assert_int_equal(report->broken_organizations, 2);
    assert_int_equal(report->broken_event->seq, 77);
    assert_string_equal(report->broken_event->reason, replay_break_text(REPLAY_GAP));
    assert_string_equal(report->broken_event->org_id, "00000000-0000-0000-0000-000000000000");
    exchange_close(&exchange);

    begin(&exchange, &fixture, fixture.admin);
    (void)next(&exchange);
    fake.state.ended = true;
    fake.state.damaged = true;
    memcpy(fake.state.why, "page 7 is torn", sizeof("page 7 is torn"));
    finish_step(&fixture, &fake);
    report = next(&exchange)->report;
    assert_false(report->clean);
    assert_string_equal(report->damage, "page 7 is torn");
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: it needs the server flag, and reports why it cannot run. Method: an administrator without
 * the flag, a server that has none, one that runs already, and one that fails on its way. */
static void test_verify_without_the_server_flag_is_refused(void **state)
{
    struct fixture fixture;
    struct fake fake;
    struct exchange exchange;
    char admin[FIXTURE_TOKEN_BYTES];

    (void)state;
    init(&fixture, &fake);
    (void)fixture_make_org(&fixture, "second", admin);
    begin(&exchange, &fixture, admin);
    assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
    exchange_close(&exchange);
    fake.start_result = ERR_PRECONDITION;
    begin(&exchange, &fixture, fixture.admin);
    assert_int_equal(exchange.code, STATUS_FAILED_PRECONDITION);
    assert_true(slice_has(exchange.message, "not now"));
    exchange_close(&exchange);
    assert_int_equal(fake.starts + fake.cancels, 0);
    fake.start_result = OK;
    begin(&exchange, &fixture, fixture.admin);
    fake.state.ended = true;
    fake.state.err = ERR_DISK_FULL;
    finish_step(&fixture, &fake);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_RESOURCE_EXHAUSTED);
    assert_int_equal(fake.cancels, 1);
    exchange_close(&exchange);
    fixture.pipeline->config.verify = NULL;
    begin(&exchange, &fixture, fixture.admin);
    assert_int_equal(exchange.code, STATUS_UNIMPLEMENTED);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: a disconnecting caller and a stopping server cancel it. Method: both. */
static void test_disconnect_and_drain_cancel_a_verification(void **state)
{
    struct fixture fixture;
    struct fake fake;
    struct exchange exchange;

    (void)state;
    init(&fixture, &fake);
    begin(&exchange, &fixture, fixture.admin);
    exchange_close(&exchange);
    fixture_run(&fixture);
    assert_int_equal(fake.cancels, 1);
    begin(&exchange, &fixture, fixture.admin);
    pipeline_drain(fixture.pipeline);
    fixture_run(&fixture);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_UNAVAILABLE);
    assert_int_equal(fake.cancels, 2);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: only its stream is woken by a verification's progress. Method: as many watchers of the same
 * organisation as take several turns; progress, and turns counted. */
static void test_progress_of_a_verification_wakes_only_its_stream(void **state)
{
    enum {
        WATCHERS = 4 * PIPELINE_TURN_STREAMS_MAX
    };
    static struct exchange watchers[WATCHERS];
    struct fixture fixture;
    struct fake fake;
    struct exchange exchange;
    struct exchange_start start = {.path = "errata.v1.EventService/WatchEvents"};
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    (void)state;
    init(&fixture, &fake);
    start.authorization = fixture.admin;
    for (size_t i = 0; i < WATCHERS; i++) {
        exchange_open(&watchers[i], &fixture, &start);
        exchange_send(&watchers[i], &request.base);
    }
    begin(&exchange, &fixture, fixture.admin);
    assert_non_null(next(&exchange));
    fixture.turns = 0;
    fake.state.copied_bytes = 7;
    finish_step(&fixture, &fake);
    assert_int_equal(next(&exchange)->progress->copied_bytes, 7);
    assert_int_equal(fixture.turns, 1);
    for (size_t i = 0; i < WATCHERS; i++) {
        assert_false(watchers[i].ended);
        exchange_close(&watchers[i]);
    }
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

int run_verify_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify_streams_progress_then_findings),
        cmocka_unit_test(test_all_findings_are_returned),
        cmocka_unit_test(test_verify_without_the_server_flag_is_refused),
        cmocka_unit_test(test_disconnect_and_drain_cancel_a_verification),
        cmocka_unit_test(test_progress_of_a_verification_wakes_only_its_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
