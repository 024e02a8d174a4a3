/*
 * stream_tests.c: watches of the log: from any place, woken by commits, bounded by the peer's reads
 * and by the limits of a turn.
 */
#include "tests/rpc/fixture.h"

#include <grpc/health/v1/health.pb-c.h>
#include <grpc/reflection/v1/reflection.pb-c.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct exchange_start watch_start(const char *token)
{
    return (struct exchange_start){.path = "errata.v1.EventService/WatchEvents",
                                   .authorization = token};
}

static Errata__V1__Event *read_event(struct exchange *exchange)
{
    Errata__V1__WatchEventsResponse *response =
        exchange_read(exchange, &errata__v1__watch_events_response__descriptor);

    return response != NULL ? response->event : NULL;
}

/* Goal: a watcher gets existing events, then each new one once, in order, and resumes where it
 * stopped. Method: one from the start, one from now on, one that reconnects. */
static void test_watcher_gets_each_event_once(void **state)
{
    struct fixture fixture;
    struct exchange all;
    struct exchange fresh;
    struct exchange_start start;
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    Errata__V1__Event *event = NULL;

    (void)state;
    fixture_init(&fixture);
    start = watch_start(fixture.admin);
    exchange_open(&fresh, &fixture, &start);
    exchange_send(&fresh, &request.base);
    request.from_seq = 1;
    exchange_open(&all, &fixture, &start);
    exchange_send(&all, &request.base);
    fixture_run(&fixture);
    assert_int_equal(read_event(&all)->seq, 1);
    assert_int_equal(read_event(&all)->seq, 2);
    assert_null(read_event(&all));
    assert_null(read_event(&fresh));
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    event = read_event(&fresh);
    assert_int_equal(event->seq, 3);
    assert_int_equal(event->payload_case, ERRATA__V1__EVENT__PAYLOAD_FEEDBACK_EVENT);
    assert_string_equal(event->feedback_event->after_json, "{\"qty\":12}");
    assert_int_equal(read_event(&all)->seq, 3);
    exchange_close(&all);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    request.from_seq = 4;
    exchange_open(&all, &fixture, &start);
    exchange_send(&all, &request.base);
    fixture_run(&fixture);
    assert_int_equal(read_event(&all)->seq, 4);
    assert_null(read_event(&all));
    exchange_close(&all);
    exchange_close(&fresh);
    fixture_deinit(&fixture);
}

/* Goal: a watch with a last number ends with OK after it, also if that event is of another kind, or is recorded later. Method:
 * the events of a small log, and one more. */
static void test_watch_ends_after_a_number(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    struct exchange_start start;
    Errata__V1__EventKind kinds[] = {ERRATA__V1__EVENT_KIND__EVENT_KIND_ORGANIZATION_CREATED};
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    start = watch_start(fixture.admin);
    request.from_seq = 1;
    request.until_seq = 2;
    request.kinds = kinds;
    request.n_kinds = 1;
    exchange_open(&exchange, &fixture, &start);
    exchange_send(&exchange, &request.base);
    fixture_run(&fixture);
    assert_int_equal(read_event(&exchange)->seq, 1);
    assert_null(read_event(&exchange));
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_OK);
    exchange_close(&exchange);

    request.until_seq = 3;
    request.n_kinds = 0;
    exchange_open(&exchange, &fixture, &start);
    exchange_send(&exchange, &request.base);
    fixture_run(&fixture);
    assert_int_equal(read_event(&exchange)->seq, 1);
    assert_int_equal(read_event(&exchange)->seq, 2);
    assert_null(read_event(&exchange));
    assert_false(exchange.ended);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    assert_int_equal(read_event(&exchange)->seq, 3);
    fixture_run(&fixture);
    assert_null(read_event(&exchange));
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_OK);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: watches filter by kind; a VIEWER sees no content; a token's hash is never in a response.
 * Method: the events of a small log, and the bytes of one that creates a token. */
static void test_watch_filters_kinds_and_redacts(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    struct exchange_start start;
    char viewer[FIXTURE_TOKEN_BYTES];
    Errata__V1__EventKind kinds[] = {ERRATA__V1__EVENT_KIND__EVENT_KIND_FEEDBACK};
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    Errata__V1__Event *event = NULL;

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    request.from_seq = 1;
    request.kinds = kinds;
    request.n_kinds = 1;
    start = watch_start(viewer);
    exchange_open(&exchange, &fixture, &start);
    exchange_send(&exchange, &request.base);
    fixture_run(&fixture);
    event = read_event(&exchange);
    assert_int_equal(event->seq, 4);
    assert_string_equal(event->feedback_event->layout_fingerprint, "layout");
    assert_string_equal(event->feedback_event->before_json, "");
    assert_string_equal(event->feedback_event->after_json, "");
    assert_null(read_event(&exchange));
    exchange_close(&exchange);

    kinds[0] = ERRATA__V1__EVENT_KIND__EVENT_KIND_TOKEN_CREATED;
    exchange_open(&exchange, &fixture, &start);
    exchange_send(&exchange, &request.base);
    fixture_run(&fixture);
    event = read_event(&exchange);
    assert_int_equal(event->payload_case, ERRATA__V1__EVENT__PAYLOAD_TOKEN_CREATED);
    assert_int_equal(event->token_created->role, ROLE_ADMIN);
    assert_int_equal(event->token_created->base.n_unknown_fields, 0);
    exchange_close(&exchange);
    kinds[0] = (Errata__V1__EventKind)99;
    exchange = fixture_call_whole(&fixture, &start, &request.base);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    fixture_deinit(&fixture);
}

/* Goal: a watch may ask for any kind of the contract. Method: a watch for each value of the enum except the
 * first. */
static void test_watch_accepts_every_kind(void **state)
{
    const ProtobufCEnumDescriptor *values = &errata__v1__event_kind__descriptor;
    struct fixture fixture;
    struct exchange exchange;
    struct exchange_start start;
    Errata__V1__EventKind kind = ERRATA__V1__EVENT_KIND__EVENT_KIND_UNSPECIFIED;
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    const Errata__V1__Event *event = NULL;

    (void)state;
    fixture_init(&fixture);
    start = watch_start(fixture.admin);
    request.from_seq = 1;
    request.kinds = &kind;
    request.n_kinds = 1;
    for (unsigned i = 1; i < values->n_values; i++) {
        kind = (Errata__V1__EventKind)values->values[i].value;
        exchange_open(&exchange, &fixture, &start);
        exchange_send(&exchange, &request.base);
        fixture_run(&fixture);
        assert_false(exchange.ended);
        event = read_event(&exchange);
        assert_true(event == NULL || event->kind == kind);
        exchange_close(&exchange);
    }
    fixture_deinit(&fixture);
}

/* Goal: for a peer that does not read, no more than the mark and one message are buffered, and it
 * gets everything in the end. Method: a log larger than the mark, read late. */
static void test_slow_reader_holds_at_most_the_mark(void **state)
{
    enum {
        EVENTS = 400
    };
    struct fixture fixture;
    struct exchange exchange;
    struct exchange_start start;
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    for (int i = 0; i < EVENTS; i++) {
        (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    }
    request.from_seq = 1;
    start = watch_start(fixture.admin);
    exchange_open(&exchange, &fixture, &start);
    exchange_send(&exchange, &request.base);
    fixture_run(&fixture);
    assert_true(exchange.core->output_bytes > CALL_OUTPUT_BYTES_HIGH / 2);
    assert_true(exchange.core->output_bytes <= CALL_OUTPUT_BYTES_HIGH + 4096);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    assert_true(exchange.core->output_bytes <= CALL_OUTPUT_BYTES_HIGH + 4096);
    for (Errata__V1__Event *event = read_event(&exchange); event != NULL;
         event = read_event(&exchange)) {
        assert_int_equal(event->seq, ++seq);
        fixture_run(&fixture);
        assert_true(exchange.core->output_bytes <= CALL_OUTPUT_BYTES_HIGH + 4096);
    }
    assert_int_equal(seq, EVENTS + 3);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: many watchers that wake at once are served over several turns of bounded length. Method: a
 * commit with 100 watchers; turns counted. */
static void test_many_watchers_are_served_over_several_turns(void **state)
{
    enum {
        WATCHERS = 100
    };
    static struct exchange exchanges[WATCHERS];
    struct fixture fixture;
    struct exchange_start start;
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    start = watch_start(fixture.admin);
    for (size_t i = 0; i < WATCHERS; i++) {
        exchange_open(&exchanges[i], &fixture, &start);
        exchange_send(&exchanges[i], &request.base);
    }
    fixture_run(&fixture);
    fixture.turns = 0;
    (void)fixture_capture(&fixture, fixture.admin, NULL, "layout");
    assert_int_equal(fixture.turns,
                     (WATCHERS + PIPELINE_TURN_STREAMS_MAX - 1) / PIPELINE_TURN_STREAMS_MAX);
    for (size_t i = 0; i < WATCHERS; i++) {
        assert_int_equal(read_event(&exchanges[i])->seq, 3);
        exchange_close(&exchanges[i]);
    }
    fixture_deinit(&fixture);
}

/* Goal: a watcher whose token is revoked gets no further events; draining ends those that have
 * caught up, and refuses new calls. Method: revoke one of two, then drain. */
static void test_watch_of_a_revoked_token_ends(void **state)
{
    struct fixture fixture;
    struct exchange revoked;
    struct exchange drained;
    struct exchange_start start;
    char viewer[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    Errata__V1__RevokeTokenRequest revoke = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    start = watch_start(viewer);
    exchange_open(&revoked, &fixture, &start);
    exchange_send(&revoked, &request.base);
    start = watch_start(fixture.admin);
    exchange_open(&drained, &fixture, &start);
    exchange_send(&drained, &request.base);
    fixture_run(&fixture);
    fixture_key_id_of(viewer, key_id);
    revoke.key_id = key_id;
    start.path = "errata.v1.AdminService/RevokeToken";
    assert_int_equal(fixture_call(&fixture, &start, &revoke.base, NULL), STATUS_OK);
    assert_true(revoked.ended);
    assert_int_equal(revoked.code, STATUS_UNAUTHENTICATED);
    assert_null(read_event(&revoked));
    exchange_close(&revoked);
    assert_false(drained.ended);
    assert_int_equal(read_event(&drained)->kind, ERRATA__V1__EVENT_KIND__EVENT_KIND_TOKEN_REVOKED);
    pipeline_drain(fixture.pipeline);
    fixture_run(&fixture);
    assert_true(drained.ended);
    assert_int_equal(drained.code, STATUS_UNAVAILABLE);
    exchange_close(&drained);
    start = watch_start(fixture.admin);
    exchange_open(&drained, &fixture, &start);
    assert_true(drained.ended);
    assert_int_equal(drained.code, STATUS_UNAVAILABLE);
    exchange_close(&drained);
    fixture_deinit(&fixture);
}

/* Goal: a watcher whose token expires is ended with that status, even if nothing happens in its
 * organisation. Method: the clock passes the end, and the services check. */
static void test_watch_of_an_expired_token_ends(void **state)
{
    struct fixture fixture;
    struct exchange ending;
    struct exchange lasting;
    struct exchange_start start;
    char viewer[FIXTURE_TOKEN_BYTES];
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    fixture_make_ending_token(&fixture, fixture.admin, FIXTURE_START_US + 60 * 1000000, viewer);
    start = watch_start(viewer);
    exchange_open(&ending, &fixture, &start);
    exchange_send(&ending, &request.base);
    start = watch_start(fixture.admin);
    exchange_open(&lasting, &fixture, &start);
    exchange_send(&lasting, &request.base);
    fixture_run(&fixture);
    clock_manual_advance(&fixture.clock, 59 * 1000000);
    pipeline_end_expired(fixture.pipeline);
    fixture_run(&fixture);
    assert_false(ending.ended);
    clock_manual_advance(&fixture.clock, 1000000);
    pipeline_end_expired(fixture.pipeline);
    fixture_run(&fixture);
    assert_true(ending.ended);
    assert_int_equal(ending.code, STATUS_UNAUTHENTICATED);
    assert_false(lasting.ended);
    exchange_close(&ending);
    exchange_close(&lasting);
    fixture_run(&fixture);
    fixture_deinit(&fixture);
}

static int next_health(struct exchange *exchange)
{
    Grpc__Health__V1__HealthCheckResponse *response =
        exchange_read(exchange, &grpc__health__v1__health_check_response__descriptor);

    return response != NULL ? (int)response->status : -1;
}

/* Goal: health reports each part by its name, independently: the server does not depend on the PDF
 * worker. Method: Check of each while the worker is down, and of an unknown one. */
static void test_health_reports_each_part(void **state)
{
    static const char *const names[] = {"",           "errata.write", "errata.clock",
                                        "errata.pdf", "errata.admin", "errata.tokens"};
    struct fixture fixture;
    struct exchange exchange;
    const struct exchange_start start = {.path = "grpc.health.v1.Health/Check"};
    Grpc__Health__V1__HealthCheckRequest request = GRPC__HEALTH__V1__HEALTH_CHECK_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    pipeline_set_health(fixture.pipeline, HEALTH_PART_PDF, HEALTH_NOT_SERVING);
    pipeline_set_health(fixture.pipeline, HEALTH_PART_ADMIN, HEALTH_NOT_SERVING);
    pipeline_set_health(fixture.pipeline, HEALTH_PART_TOKENS, HEALTH_NOT_SERVING);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        request.service = (char *)(uintptr_t)names[i];
        exchange_open(&exchange, &fixture, &start);
        exchange_send(&exchange, &request.base);
        assert_int_equal(exchange.code, STATUS_OK);
        assert_int_equal(next_health(&exchange), i < 3 ? HEALTH_SERVING : HEALTH_NOT_SERVING);
        exchange_close(&exchange);
    }
    request.service = (char *)(uintptr_t) "errata.fax";
    exchange = fixture_call_whole(&fixture, &start, &request.base);
    assert_int_equal(exchange.code, STATUS_NOT_FOUND);
    assert_true(slice_has(exchange.message, "errata.clock"));
    fixture_deinit(&fixture);
}

/* Goal: a health watch reports the current state, each change, and unknown services. Method:
 * watches of the writer's part and of an unknown one. */
static void test_health_watch_reports_each_change(void **state)
{
    struct fixture fixture;
    struct exchange known;
    struct exchange unknown;
    char name[] = "errata.write";
    char other[] = "other";
    const struct exchange_start start = {.path = "grpc.health.v1.Health/Watch"};
    Grpc__Health__V1__HealthCheckRequest request = GRPC__HEALTH__V1__HEALTH_CHECK_REQUEST__INIT;

    (void)state;
    fixture_init(&fixture);
    request.service = name;
    exchange_open(&known, &fixture, &start);
    exchange_send(&known, &request.base);
    request.service = other;
    exchange_open(&unknown, &fixture, &start);
    exchange_send(&unknown, &request.base);
    fixture_run(&fixture);
    assert_int_equal(next_health(&known), HEALTH_SERVING);
    assert_int_equal(next_health(&unknown), HEALTH_SERVICE_UNKNOWN);
    pipeline_set_health(fixture.pipeline, HEALTH_PART_WRITE, HEALTH_NOT_SERVING);
    fixture_run(&fixture);
    assert_int_equal(next_health(&known), HEALTH_NOT_SERVING);
    assert_int_equal(next_health(&unknown), -1);
    pipeline_set_health(fixture.pipeline, HEALTH_PART_WRITE, HEALTH_NOT_SERVING);
    fixture_run(&fixture);
    assert_int_equal(next_health(&known), -1);
    exchange_close(&known);
    exchange_close(&unknown);
    fixture_deinit(&fixture);
}

static void expect_reflection(const char *path)
{
    struct fixture fixture;
    struct exchange exchange;
    char empty[] = "";
    char symbol[] = "errata.v1.FeedbackService";
    char file[] = "errata/v1/feedback_service.proto";
    char missing[] = "errata.v1.Absent";
    const struct exchange_start start = {.path = path};
    Grpc__Reflection__V1__ServerReflectionRequest request =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
    Grpc__Reflection__V1__ServerReflectionResponse *response = NULL;
    const ProtobufCMessageDescriptor *descriptor =
        &grpc__reflection__v1__server_reflection_response__descriptor;

    fixture_init(&fixture);
    exchange_open(&exchange, &fixture, &start);
    request.host = symbol;
    request.message_request_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES;
    request.list_services = empty;
    exchange_send_part(&exchange, &request.base);
    response = exchange_read(&exchange, descriptor);
    assert_int_equal(response->list_services_response->n_service, 18);
    assert_string_equal(response->valid_host, symbol);
    request.message_request_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL;
    request.file_containing_symbol = symbol;
    exchange_send_part(&exchange, &request.base);
    response = exchange_read(&exchange, descriptor);
    assert_true(response->file_descriptor_response->n_file_descriptor_proto > 3);
    assert_string_equal(response->original_request->file_containing_symbol, symbol);
    request.file_containing_symbol = missing;
    exchange_send_part(&exchange, &request.base);
    response = exchange_read(&exchange, descriptor);
    assert_int_equal(response->error_response->error_code, STATUS_NOT_FOUND);
    request.message_request_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME;
    request.file_by_filename = file;
    exchange_send_part(&exchange, &request.base);
    response = exchange_read(&exchange, descriptor);
    assert_true(response->file_descriptor_response->n_file_descriptor_proto > 3);
    request.message_request_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST__NOT_SET;
    request.host = empty;
    exchange_send_part(&exchange, &request.base);
    response = exchange_read(&exchange, descriptor);
    assert_int_equal(response->error_response->error_code, STATUS_NOT_FOUND);
    assert_false(exchange.ended);
    call_deliver_end(exchange.core);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_OK);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

/* Goal: reflection lists the services, returns a file by its name or a symbol with its imports, and
 * an error for unknown names without ending the stream. Method: five requests of one stream, to
 * either version: their bytes are the same. */
static void test_reflection_returns_files_and_errors(void **state)
{
    (void)state;
    expect_reflection("grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
    expect_reflection("grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
}

/* Goal: a request of a stream that would occupy the loop for long is refused before it is examined.
 * Method: one byte above the limit of the loop, of a request with no other content. */
static void test_too_large_stream_request_is_refused(void **state)
{
    static uint8_t bytes[PIPELINE_INLINE_BYTES_MAX + 1];
    const struct exchange_start start = {
        .path = "grpc.reflection.v1.ServerReflection/ServerReflectionInfo"};
    struct fixture fixture;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    exchange_open(&exchange, &fixture, &start);
    exchange_send_bytes(&exchange, slice_of(bytes, sizeof(bytes)));
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_RESOURCE_EXHAUSTED);
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

int run_stream_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watcher_gets_each_event_once),
        cmocka_unit_test(test_watch_ends_after_a_number),
        cmocka_unit_test(test_watch_filters_kinds_and_redacts),
        cmocka_unit_test(test_watch_accepts_every_kind),
        cmocka_unit_test(test_slow_reader_holds_at_most_the_mark),
        cmocka_unit_test(test_many_watchers_are_served_over_several_turns),
        cmocka_unit_test(test_watch_of_a_revoked_token_ends),
        cmocka_unit_test(test_health_reports_each_part),
        cmocka_unit_test(test_health_watch_reports_each_change),
        cmocka_unit_test(test_reflection_returns_files_and_errors),
        cmocka_unit_test(test_too_large_stream_request_is_refused),
        cmocka_unit_test(test_watch_of_an_expired_token_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
