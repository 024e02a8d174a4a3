/*
 * quota_tests.c: quotas through calls: permissions to set them, the calls that each limit refuses,
 * the details of a refusal, and lists.
 */
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/rpc/ingest.h"

#define SET "errata.v1.AdminService/SetQuota"
#define LIST "errata.v1.AdminService/ListQuotas"
#define LOG "errata.v1.EventService/ListEvents"
#define UNKNOWN_KEY_ID "00000001"

/* Limits of a request; -1: not given. */
struct limits {
    int64_t requests;
    int64_t burst;
    int64_t streams;
    int64_t stored;
    int64_t pdf_jobs;
};

static const struct limits none = {-1, -1, -1, -1, -1};

static struct exchange set(struct fixture *fixture, const char *token, const char *key_id,
                           struct limits limits)
{
    const struct exchange_start start = {.path = SET, .authorization = token};
    Errata__V1__SetQuotaRequest request = ERRATA__V1__SET_QUOTA_REQUEST__INIT;
    Errata__V1__Quota quota = ERRATA__V1__QUOTA__INIT;

    quota._requests_per_second_case = limits.requests < 0 ? 0 : 1;
    quota.requests_per_second = (uint32_t)limits.requests;
    quota._request_burst_case = limits.burst < 0 ? 0 : 2;
    quota.request_burst = (uint32_t)limits.burst;
    quota._concurrent_streams_case = limits.streams < 0 ? 0 : 3;
    quota.concurrent_streams = (uint32_t)limits.streams;
    quota._stored_bytes_case = limits.stored < 0 ? 0 : 4;
    quota.stored_bytes = (uint64_t)limits.stored;
    quota._pdf_jobs_case = limits.pdf_jobs < 0 ? 0 : 5;
    quota.pdf_jobs = (uint32_t)limits.pdf_jobs;
    request.key_id = (char *)(uintptr_t)key_id;
    request.quota = &quota;
    return fixture_call_whole(fixture, &start, &request.base);
}

static void set_well(struct fixture *fixture, const char *key_id, struct limits limits)
{
    assert_int_equal(set(fixture, fixture->admin, key_id, limits).code, STATUS_OK);
}

static Errata__V1__ListQuotasResponse *list(struct fixture *fixture, const char *token)
{
    const struct exchange_start start = {.path = LIST, .authorization = token};
    Errata__V1__ListQuotasRequest request = ERRATA__V1__LIST_QUOTAS_REQUEST__INIT;
    Errata__V1__ListQuotasResponse *response = NULL;

    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response;
}

static struct exchange list_events(struct fixture *fixture, const char *token)
{
    const struct exchange_start start = {.path = LOG, .authorization = token};
    const Errata__V1__ListEventsRequest request = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;

    return fixture_call_whole(fixture, &start, &request.base);
}

/* Checks that a refusal by a quota has its name, its limit, its holder, a delay and the way to
 * change it. */
static void expect_refusal(const struct exchange *exchange, const char *reason, const char *part)
{
    assert_int_equal(exchange->code, STATUS_RESOURCE_EXHAUSTED);
    assert_true(slice_has(exchange->message, part));
    assert_true(slice_has(exchange->message, "errata admin quota --"));
    assert_true(slice_has(exchange->details, "google.rpc.QuotaFailure"));
    assert_true(slice_has(exchange->details, "google.rpc.RetryInfo"));
    assert_true(slice_has(exchange->details, reason));
}

/* Goal: requests beyond the rate are refused with their waiting time, on the clock of the server;
 * quotas and the server's state can be called nevertheless. Method: a limit of 2, and time. */
static void test_requests_are_limited(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    const struct exchange_start info = {.path = "errata.v1.AdminService/GetServerInfo",
                                        .authorization = fixture.admin};
    const Errata__V1__GetServerInfoRequest request = ERRATA__V1__GET_SERVER_INFO_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    set_well(&fixture, "", (struct limits){2, -1, -1, -1, -1});
    assert_int_equal(list_events(&fixture, fixture.admin).code, STATUS_OK);
    assert_int_equal(list_events(&fixture, fixture.admin).code, STATUS_OK);
    for (unsigned i = 0; i < 3; i++) {
        exchange = list_events(&fixture, fixture.admin);
        expect_refusal(&exchange, "REQUESTS_PER_SECOND", "limit of 2 requests per second");
        assert_true(slice_has(exchange.message, "another attempt after 500 ms"));
        assert_true(slice_has(exchange.details, "organization:"));
    }
    assert_int_equal(list(&fixture, fixture.admin)->quotas[0]->requests_available, 0);
    assert_int_equal(fixture_call(&fixture, &info, &request.base, NULL), STATUS_OK);
    clock_manual_advance(&fixture.clock, 499999);
    assert_int_equal(list_events(&fixture, fixture.admin).code, STATUS_RESOURCE_EXHAUSTED);
    clock_manual_advance(&fixture.clock, 1);
    assert_int_equal(list_events(&fixture, fixture.admin).code, STATUS_OK);
    assert_int_equal(fixture.env.quota_refusals[QUOTA_REQUESTS], 4);
    set_well(&fixture, "", (struct limits){0, -1, -1, -1, -1});
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(list_events(&fixture, fixture.admin).code, STATUS_OK);
    }
    fixture_deinit(&fixture);
}

/* Goal: a token's quota limits that token; another token and another organisation are not limited.
 * Method: a token of 1 request per second beside both. */
static void test_token_has_a_quota_of_its_own(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    char token[FIXTURE_TOKEN_BYTES];
    char other[FIXTURE_TOKEN_BYTES];
    char key_id[9];

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
    (void)fixture_make_org(&fixture, "other", other);
    fixture_key_id_of(token, key_id);
    set_well(&fixture, key_id, (struct limits){1, -1, -1, -1, -1});
    assert_int_equal(list_events(&fixture, token).code, STATUS_OK);
    exchange = list_events(&fixture, token);
    expect_refusal(&exchange, "REQUESTS_PER_SECOND", "--key-id");
    assert_true(slice_has(exchange.details, "token:"));
    assert_true(slice_has(exchange.message, key_id));
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(list_events(&fixture, fixture.admin).code, STATUS_OK);
        assert_int_equal(list_events(&fixture, other).code, STATUS_OK);
    }
    fixture_deinit(&fixture);
}

/* Goal: an organisation's quota needs the server flag, a token's its organisation's ADMIN; invalid
 * changes store nothing. Method: an administrator of another organisation tries each. */
static void test_only_the_operator_limits_an_organisation(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    char own[FIXTURE_TOKEN_BYTES];
    char viewer[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    struct limits limits = none;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "other", own);
    fixture_make_token(&fixture, own, ROLE_VIEWER, viewer);
    fixture_key_id_of(viewer, key_id);
    limits.pdf_jobs = 1;
    exchange = set(&fixture, own, "", limits);
    assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
    assert_true(slice_has(exchange.message, "server flag"));
    assert_int_equal(set(&fixture, viewer, key_id, limits).code, STATUS_PERMISSION_DENIED);
    assert_int_equal(set(&fixture, own, UNKNOWN_KEY_ID, limits).code, STATUS_NOT_FOUND);
    assert_int_equal(set(&fixture, fixture.admin, key_id, limits).code, STATUS_NOT_FOUND);
    assert_int_equal(set(&fixture, own, key_id, none).code, STATUS_INVALID_ARGUMENT);
    limits.stored = 5;
    limits.requests = 1000001;
    exchange = set(&fixture, own, key_id, limits);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.details, "quota.requests_per_second"));
    assert_int_equal(list(&fixture, own)->n_quotas, 1);
    limits = (struct limits){-1, -1, 4, -1, 1};
    assert_int_equal(set(&fixture, own, key_id, limits).code, STATUS_OK);
    assert_int_equal(list(&fixture, own)->n_quotas, 2);
    assert_string_equal(list(&fixture, own)->quotas[1]->key_id, key_id);
    assert_int_equal(list(&fixture, own)->quotas[1]->quota->concurrent_streams, 4);
    assert_int_equal(list(&fixture, fixture.admin)->n_quotas, 1);
    fixture_deinit(&fixture);
}

/* Goal: an administrator without the server flag waits like others; one with it is never refused.
 * Method: a limit of one request, of the organisation of the first. */
static void test_administrators_of_organisations_are_counted(void **state)
{
    struct fixture fixture;
    char own[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    struct exchange_start start = {.path = SET};
    Errata__V1__SetQuotaRequest request = ERRATA__V1__SET_QUOTA_REQUEST__INIT;
    Errata__V1__Quota quota = ERRATA__V1__QUOTA__INIT;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    request.org_id = (char *)(uintptr_t)fixture_make_org(&fixture, "other", own);
    request.quota = &quota;
    quota._requests_per_second_case = 1;
    quota.requests_per_second = 1;
    start.authorization = fixture.admin;
    fixture_key_id_of(own, key_id);
    assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_OK);
    assert_int_equal(set(&fixture, own, key_id, (struct limits){-1, -1, 4, -1, -1}).code,
                     STATUS_OK);
    for (unsigned i = 0; i < 3; i++) {
        exchange = set(&fixture, own, key_id, (struct limits){-1, -1, 5, -1, -1});
        expect_refusal(&exchange, "REQUESTS_PER_SECOND", "limit of 1 requests per second");
    }
    quota.requests_per_second = 0;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_OK);
    assert_int_equal(list(&fixture, own)->quotas[1]->quota->concurrent_streams, 4);
    fixture_deinit(&fixture);
}

/* Goal: equal limits are not recorded again, and have the same answer, also under a key that is repeated after another
 * change. Method: the last sequence number after each change. */
static void test_equal_limits_are_recorded_once(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = SET, .idempotency_key = "again"};
    Errata__V1__SetQuotaRequest request = ERRATA__V1__SET_QUOTA_REQUEST__INIT;
    Errata__V1__SetQuotaResponse *response = NULL;
    Errata__V1__Quota quota = ERRATA__V1__QUOTA__INIT;
    char token[FIXTURE_TOKEN_BYTES];
    char token_key_id[9];
    const char *const key_ids[] = {"", token_key_id};

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
    fixture_key_id_of(token, token_key_id);
    start.authorization = fixture.admin;
    request.quota = &quota;
    quota._pdf_jobs_case = 5;
    for (size_t i = 0; i < 2; i++) {
        uint64_t stored = list(&fixture, fixture.admin)->quotas[0]->stored_bytes;

        set_well(&fixture, key_ids[i], (struct limits){-1, -1, 0, -1, 0}); /* there is none */
        assert_int_equal(list(&fixture, fixture.admin)->quotas[0]->stored_bytes, stored);
        set_well(&fixture, key_ids[i], (struct limits){-1, -1, 3, -1, 2});
        stored = list(&fixture, fixture.admin)->quotas[0]->stored_bytes;
        request.key_id = (char *)(uintptr_t)key_ids[i];
        quota.pdf_jobs = 2;
        for (size_t repeat = 0; repeat < 3; repeat++) {
            assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
            assert_int_equal(response->quota->pdf_jobs, 2);
            assert_int_equal(response->quota->concurrent_streams, 3);
            assert_int_equal(list(&fixture, fixture.admin)->quotas[0]->stored_bytes, stored);
            if (repeat == 1) {
                set_well(&fixture, key_ids[i], (struct limits){-1, -1, -1, -1, 4});
                stored = list(&fixture, fixture.admin)->quotas[0]->stored_bytes;
            }
        }
        start.idempotency_key = "other";
    }
    fixture_deinit(&fixture);
}

static void open_watch(struct exchange *exchange, struct fixture *fixture)
{
    const struct exchange_start start = {.path = "errata.v1.EventService/WatchEvents",
                                         .authorization = fixture->admin};
    const Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    exchange_open(exchange, fixture, &start);
    if (!exchange->ended) {
        exchange_send(exchange, &request.base);
    }
    fixture_run(fixture);
}

/* Goal: streams beyond the limit are refused until one ends, also if the limit is lowered below the
 * number of open ones. Method: watches that are opened and closed. */
static void test_streams_are_limited(void **state)
{
    struct fixture fixture;
    struct exchange first;
    struct exchange second;
    struct exchange third;

    (void)state;
    fixture_init(&fixture);
    open_watch(&first, &fixture);
    open_watch(&second, &fixture);
    set_well(&fixture, "", (struct limits){-1, -1, 2, -1, -1});
    open_watch(&third, &fixture);
    assert_true(third.ended);
    expect_refusal(&third, "CONCURRENT_STREAMS", "limit of 2 concurrent streams");
    exchange_close(&third);
    assert_false(first.ended);
    assert_int_equal(list(&fixture, fixture.admin)->quotas[0]->concurrent_streams, 2);
    set_well(&fixture, "", (struct limits){-1, -1, 1, -1, -1});
    exchange_close(&first);
    open_watch(&third, &fixture);
    assert_true(third.ended);
    exchange_close(&third);
    exchange_close(&second);
    open_watch(&third, &fixture);
    assert_false(third.ended);
    exchange_close(&third);
    assert_int_equal(list(&fixture, fixture.admin)->quotas[0]->concurrent_streams, 0);
    assert_int_equal(fixture.env.quota_refusals[QUOTA_STREAMS], 2);
    fixture_deinit(&fixture);
}

/* Goal: PDFs beyond the limit are refused before they arrive, until one ends. Method: streamed
 * documents that are open; an upload is a stream, too. */
static void test_pdf_jobs_are_limited(void **state)
{
    struct fixture fixture;
    struct exchange first;
    struct exchange second;

    (void)state;
    fixture_init(&fixture);
    set_well(&fixture, "", (struct limits){-1, -1, -1, -1, 1});
    ingest_open(&first, &fixture, "errata.v1.LayoutService/IngestDocumentStream");
    assert_false(first.ended);
    ingest_open(&second, &fixture, "errata.v1.LayoutService/IngestDocumentStream");
    assert_true(second.ended);
    expect_refusal(&second, "PDF_JOBS", "limit of 1 PDFs at a time");
    exchange_close(&second);
    assert_int_equal(list(&fixture, fixture.admin)->quotas[0]->pdf_jobs, 1);
    assert_int_equal(list(&fixture, fixture.admin)->quotas[0]->concurrent_streams, 1);
    exchange_close(&first);
    ingest_open(&second, &fixture, "errata.v1.LayoutService/IngestDocumentStream");
    assert_false(second.ended);
    exchange_close(&second);
    assert_int_equal(list(&fixture, fixture.admin)->quotas[0]->pdf_jobs, 0);
    fixture_deinit(&fixture);
}

/* Tries to store one correction. */
static struct exchange capture(struct fixture *fixture, const char *token)
{
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = token};
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event.layout_fingerprint = (char *)(uintptr_t) "layout";
    event.before_json = (char *)(uintptr_t) "{\"qty\":1}";
    event.after_json = (char *)(uintptr_t) "{\"qty\":12}";
    request.event = &event;
    return fixture_call_whole(fixture, &start, &request.base);
}

/* Goal: an organisation at its limit of stored bytes can read and administer, but not write;
 * another one can write. Method: a limit equal to the stored bytes, and one above it. */
static void test_stored_bytes_are_limited(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    char other[FIXTURE_TOKEN_BYTES];
    char viewer[FIXTURE_TOKEN_BYTES];
    uint64_t stored = 0;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "other", other);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    stored = list(&fixture, fixture.admin)->quotas[0]->stored_bytes;
    assert_true(stored > 100);
    set_well(&fixture, "", (struct limits){-1, -1, -1, (int64_t)stored, -1});
    exchange = capture(&fixture, fixture.admin);
    expect_refusal(&exchange, "STORED_BYTES", "stored bytes");
    assert_true(slice_has(exchange.message, "a shorter retention"));
    assert_int_equal(capture(&fixture, other).code, STATUS_OK);
    assert_int_equal(list_events(&fixture, fixture.admin).code, STATUS_OK);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    stored = list(&fixture, fixture.admin)->quotas[0]->stored_bytes;
    set_well(&fixture, "", (struct limits){-1, -1, -1, (int64_t)stored + 1000, -1});
    assert_int_equal(capture(&fixture, fixture.admin).code, STATUS_OK);
    assert_true(list(&fixture, fixture.admin)->quotas[0]->stored_bytes > stored);
    fixture_deinit(&fixture);
}

/* Goal: a token that replaces another one has its quota. Method: a rotation; a repeat of it under
 * its key is refused as before. */
static void test_rotated_token_keeps_its_quota(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = "errata.v1.AdminService/RotateToken",
                                   .authorization = fixture.admin,
                                   .idempotency_key = "rotate"};
    Errata__V1__RotateTokenRequest request = ERRATA__V1__ROTATE_TOKEN_REQUEST__INIT;
    Errata__V1__ListQuotasResponse *quotas = NULL;
    char token[FIXTURE_TOKEN_BYTES];
    char key_id[9];

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
    fixture_key_id_of(token, key_id);
    set_well(&fixture, key_id, (struct limits){-1, -1, 3, -1, -1});
    request.key_id = key_id;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_OK);
    quotas = list(&fixture, fixture.admin);
    assert_int_equal(quotas->n_quotas, 3);
    assert_int_equal(quotas->quotas[1]->quota->concurrent_streams, 3);
    assert_int_equal(quotas->quotas[2]->quota->concurrent_streams, 3);
    assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_ALREADY_EXISTS);
    assert_int_equal(list(&fixture, fixture.admin)->n_quotas, 3);
    fixture_deinit(&fixture);
}

int run_quota_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_limited),
        cmocka_unit_test(test_token_has_a_quota_of_its_own),
        cmocka_unit_test(test_only_the_operator_limits_an_organisation),
        cmocka_unit_test(test_administrators_of_organisations_are_counted),
        cmocka_unit_test(test_equal_limits_are_recorded_once),
        cmocka_unit_test(test_streams_are_limited),
        cmocka_unit_test(test_pdf_jobs_are_limited),
        cmocka_unit_test(test_stored_bytes_are_limited),
        cmocka_unit_test(test_rotated_token_keeps_its_quota),
    };

    return cmocka_run_group_tests_name("quotas", tests, NULL, NULL);
}
