/*
 * write_tests.c: writes through the group commit: idempotency keys, deadlines, cancellation, large
 * bodies on the pool.
 */
#include "tests/rpc/fixture.h"

#include "store/base/fault_point.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t last_seq(struct fixture *fixture)
{
    Errata__V1__ListEventsRequest request = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    Errata__V1__ListEventsResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.EventService/ListEvents",
                                         .authorization = fixture->admin};

    request.page_size = 1;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_events, 1);
    return response->events[0]->seq;
}

/* A capture of a layout, with a value before of a given size. */
struct capture {
    Errata__V1__FeedbackEvent event;
    Errata__V1__CaptureFeedbackEventRequest request;
    char layout[32];
    char *before;
};

static void capture_init(struct capture *capture, const char *layout, size_t before_bytes)
{
    static char after[] = "{\"qty\":12}";

    errata__v1__feedback_event__init(&capture->event);
    errata__v1__capture_feedback_event_request__init(&capture->request);
    (void)snprintf(capture->layout, sizeof(capture->layout), "%s", layout);
    capture->before = malloc(before_bytes + 32);
    assert_non_null(capture->before);
    memcpy(capture->before, "{\"text\":\"", 9);
    memset(capture->before + 9, 'x', before_bytes);
    memcpy(capture->before + 9 + before_bytes, "\"}", 3);
    capture->event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    capture->event._layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    capture->event.layout_fingerprint = capture->layout;
    capture->event.before_json = capture->before;
    capture->event.after_json = after;
    capture->request.event = &capture->event;
}

static void capture_deinit(struct capture *capture)
{
    free(capture->before);
}

static struct exchange_start capture_start(const char *token, const char *key)
{
    return (struct exchange_start){.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                   .authorization = token,
                                   .idempotency_key = key};
}

/* A fixture, a capture to be sent to it, and the length of its log before. */
struct scene {
    struct fixture fixture;
    struct capture capture;
    uint64_t seq;
};

static void scene_init(struct scene *scene, size_t before_bytes)
{
    fixture_init(&scene->fixture);
    scene->seq = last_seq(&scene->fixture);
    capture_init(&scene->capture, "layout", before_bytes);
}

/* Ends the scene: checks that no call or stream is live, and the number of stored events. */
static void scene_end(struct scene *scene, uint64_t stored)
{
    assert_int_equal(pipeline_live_count(scene->fixture.pipeline), 0);
    assert_int_equal(last_seq(&scene->fixture), scene->seq + stored);
    capture_deinit(&scene->capture);
    fixture_deinit(&scene->fixture);
}

/* Goal: a repeat gets the first answer and stores nothing; another request under the key is
 * refused; keys belong to token and method. Method: captures, counted by the log's last seq. */
static void test_repeat_under_a_key_gets_the_first_answer(void **state)
{
    struct fixture fixture;
    struct capture other;
    char operator[FIXTURE_TOKEN_BYTES];
    Errata__V1__FeedbackEvent *first = NULL;
    Errata__V1__FeedbackEvent *repeat = NULL;
    struct exchange_start start;
    struct exchange exchange;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_OPERATOR, operator);
    first = fixture_capture(&fixture, fixture.admin, "key 1", "layout");
    seq = last_seq(&fixture);
    clock_manual_advance(&fixture.clock, INT64_C(3600) * 1000000);
    repeat = fixture_capture(&fixture, fixture.admin, "key 1", "layout");
    assert_string_equal(first->id, repeat->id);
    assert_int_equal(first->created_at->seconds, repeat->created_at->seconds);
    assert_int_equal(last_seq(&fixture), seq);

    capture_init(&other, "other", 10);
    start = capture_start(fixture.admin, "key 1");
    exchange = fixture_call_whole(&fixture, &start, &other.request.base);
    assert_int_equal(exchange.code, STATUS_ALREADY_EXISTS);
    assert_true(slice_has(exchange.message, "idempotency-key"));
    assert_int_equal(last_seq(&fixture), seq);

    start = capture_start(operator, "key 1"); /* with another token it is another key */
    assert_int_equal(fixture_call(&fixture, &start, &other.request.base, NULL), STATUS_OK);
    assert_int_equal(last_seq(&fixture), seq + 1);
    clock_manual_advance(&fixture.clock, INT64_C(25) * 3600 * 1000000);
    repeat = fixture_capture(&fixture, fixture.admin, "key 1", "layout");
    assert_string_not_equal(first->id, repeat->id); /* after a day it is a new write */
    capture_deinit(&other);
    fixture_deinit(&fixture);
}

/* Goal: an invalid key is refused with the expected form. Method: empty, too long, not ASCII. */
static void test_invalid_key_is_refused(void **state)
{
    struct scene scene;
    char long_key[130];
    const char *const bad[] = {"", long_key, "tab\there", "\xc3\xa4"};

    (void)state;
    scene_init(&scene, 10);
    memset(long_key, 'k', sizeof(long_key) - 1);
    long_key[129] = '\0';
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct exchange_start start = capture_start(scene.fixture.admin, bad[i]);
        struct exchange exchange =
            fixture_call_whole(&scene.fixture, &start, &scene.capture.request.base);

        assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
        assert_true(slice_has(exchange.message, "1 to 128 printable ASCII"));
    }
    long_key[128] = '\0';
    {
        struct exchange_start start = capture_start(scene.fixture.admin, long_key);

        assert_int_equal(fixture_call(&scene.fixture, &start, &scene.capture.request.base, NULL),
                         STATUS_OK);
    }
    scene_end(&scene, 1);
}

/* Goal: a write whose deadline passed in the queue is not started. Method: time moves between the
 * request and the batch. */
static void test_write_past_its_deadline_is_not_started(void **state)
{
    struct scene scene;
    struct exchange exchange;
    struct exchange_start start;

    (void)state;
    scene_init(&scene, 10);
    start = capture_start(scene.fixture.admin, NULL);
    start.timeout_us = 100000;
    exchange_open(&exchange, &scene.fixture, &start);
    exchange_send(&exchange, &scene.capture.request.base);
    clock_manual_advance(&scene.fixture.clock, 200000);
    call_server_tick(scene.fixture.calls, clock_monotonic_us(scene.fixture.ctx.clock));
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_DEADLINE_EXCEEDED);
    assert_true(slice_has(exchange.message, "may have been stored"));
    exchange_close(&exchange);
    assert_int_equal(pipeline_live_count(scene.fixture.pipeline), 1); /* the writer has it */
    fixture_run(&scene.fixture);
    scene_end(&scene, 0);
}

/* Goal: a peer that disconnects removes its queued write, and does not affect others. Method: two
 * writes of one batch, one of them cancelled before it runs. */
static void test_cancelled_write_leaves_the_queue(void **state)
{
    struct scene scene;
    struct exchange gone;
    struct exchange stays;
    struct exchange_start start;

    (void)state;
    scene_init(&scene, 10);
    start = capture_start(scene.fixture.admin, NULL);
    exchange_open(&gone, &scene.fixture, &start);
    exchange_send(&gone, &scene.capture.request.base);
    exchange_open(&stays, &scene.fixture, &start);
    exchange_send(&stays, &scene.capture.request.base);
    exchange_close(&gone);
    fixture_run(&scene.fixture);
    assert_true(stays.ended);
    assert_int_equal(stays.code, STATUS_OK);
    exchange_close(&stays);
    scene_end(&scene, 1);
}

#ifdef ERRATA_FAULTS

static bool fails_commits(struct fault_driver *driver, const char *name)
{
    (void)driver;
    return strcmp(name, "store.commit") == 0;
}

/* Goal: a write that was never stored is not returned. Method: two requests under one key in a
 * batch, whose commit fails; the second is refused only because of the first. */
static void test_write_of_a_failed_commit_is_not_returned(void **state)
{
    struct fault_driver driver = {fails_commits};
    struct scene scene;
    struct capture other;
    struct exchange first;
    struct exchange second;
    struct exchange_start start;

    (void)state;
    scene_init(&scene, 10);
    capture_init(&other, "other", 10);
    start = capture_start(scene.fixture.admin, "key");
    exchange_open(&first, &scene.fixture, &start);
    exchange_send(&first, &scene.capture.request.base);
    exchange_open(&second, &scene.fixture, &start);
    exchange_send(&second, &other.request.base);
    fault_point_set_driver(&driver);
    fixture_run(&scene.fixture);
    fault_point_set_driver(NULL);
    assert_int_not_equal(first.code, STATUS_OK);
    assert_int_equal(second.code, first.code);
    assert_false(slice_has(second.message, "idempotency-key"));
    exchange_close(&first);
    exchange_close(&second);
    assert_int_equal(fixture_call(&scene.fixture, &start, &other.request.base, NULL), STATUS_OK);
    capture_deinit(&other);
    scene_end(&scene, 1);
}

#endif

/* Goal: a deadline that passes after the peer has disconnected, while the writer still holds the
 * write, does not end the call twice. Method: the peer disconnects, time moves, then the batch
 * runs. */
static void test_deadline_after_cancel_ends_nothing_twice(void **state)
{
    struct scene scene;
    struct exchange exchange;
    struct exchange_start start;

    (void)state;
    scene_init(&scene, 10);
    start = capture_start(scene.fixture.admin, NULL);
    start.timeout_us = 100000;
    exchange_open(&exchange, &scene.fixture, &start);
    exchange_send(&exchange, &scene.capture.request.base);
    exchange_close(&exchange);
    clock_manual_advance(&scene.fixture.clock, 200000);
    call_server_tick(scene.fixture.calls, clock_monotonic_us(scene.fixture.ctx.clock));
    assert_int_equal(pipeline_live_count(scene.fixture.pipeline), 1);
    fixture_run(&scene.fixture);
    scene_end(&scene, 0);
}

/* Goal: a large body is decoded on the pool and stored; a full pool gives a retry delay; a peer
 * that disconnects meanwhile leaks nothing. Method: bodies of 200 KB and 10 MB. */
static void test_large_body_is_decoded_on_the_pool(void **state)
{
    struct scene scene;
    struct exchange exchange;
    struct exchange_start start;

    (void)state;
    scene_init(&scene, 10 * 1024 * 1024);
    start = capture_start(scene.fixture.admin, "large");
    exchange_open(&exchange, &scene.fixture, &start);
    exchange_send(&exchange, &scene.capture.request.base);
    assert_int_equal(scene.fixture.job_count, 1);
    fixture_run(&scene.fixture);
    assert_int_equal(exchange.code, STATUS_OK);
    exchange_close(&exchange);
    assert_int_equal(last_seq(&scene.fixture), scene.seq + 1);
    capture_deinit(&scene.capture);

    capture_init(&scene.capture, "layout", 200 * 1024);
    start = capture_start(scene.fixture.admin, NULL);
    scene.fixture.pool_is_full = true;
    exchange = fixture_call_whole(&scene.fixture, &start, &scene.capture.request.base);
    assert_int_equal(exchange.code, STATUS_UNAVAILABLE);
    assert_true(slice_has(exchange.details, "google.rpc.RetryInfo"));
    scene.fixture.pool_is_full = false;
    exchange_open(&exchange, &scene.fixture, &start);
    exchange_send(&exchange, &scene.capture.request.base);
    exchange_close(&exchange);
    assert_int_equal(pipeline_live_count(scene.fixture.pipeline), 1);
    fixture_run(&scene.fixture);
    scene_end(&scene, 1);
}

/* Returns the log at level info of a capture of this duration. */
static size_t read_log_of(int64_t duration_us, char *text, size_t size)
{
    struct scene scene;
    struct exchange exchange;
    struct exchange_start start;
    FILE *log = tmpfile();
    int own = dup(STDERR_FILENO);
    ssize_t got = 0;

    assert_non_null(log);
    scene_init(&scene, 10);
    start = capture_start(scene.fixture.admin, NULL);
    exchange_open(&exchange, &scene.fixture, &start);
    exchange_send(&exchange, &scene.capture.request.base);
    clock_manual_advance(&scene.fixture.clock, duration_us);
    logger_configure(LOGGER_INFO, LOGGER_TEXT);
    assert_true(dup2(fileno(log), STDERR_FILENO) >= 0);
    fixture_run(&scene.fixture);
    assert_true(dup2(own, STDERR_FILENO) >= 0);
    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    (void)close(own);
    got = pread(fileno(log), text, size - 1, 0);
    (void)fclose(log);
    assert_true(got >= 0);
    text[got] = '\0';
    exchange_close(&exchange);
    scene_end(&scene, 1);
    return (size_t)got;
}

/* Goal: a slow call is logged with its duration; others are not. Method: a write that waits in the
 * queue for the limit, and for one microsecond more. */
static void test_slow_call_is_logged(void **state)
{
    char text[1024];

    (void)state;
    assert_int_equal(read_log_of(PIPELINE_SLOW_US, text, sizeof(text)), 0);
    assert_true(read_log_of(PIPELINE_SLOW_US + 1, text, sizeof(text)) > 0);
    assert_non_null(strstr(text, "FeedbackService/CaptureFeedbackEvent"));
    assert_non_null(strstr(text, "duration_us=1000001"));
}

/* Goal: a message that arrives in two pieces is stored as one, as the protobuf specification
 * demands. Method: an event whose type and layout are in one piece and whose values are in another;
 * optional fields are absent in both. */
static void test_message_in_two_pieces_is_merged(void **state)
{
    static const char pieces[] = "\x0a\x09\x20\x04\x4a\x05piece"
                                 "\x0a\x15\xa2\x01\x07{\"a\":1}\xaa\x01\x08{\"a\":20}";
    struct fixture fixture;
    struct exchange exchange;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;
    struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent"};

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    exchange_open(&exchange, &fixture, &start);
    exchange_send_bytes(&exchange, slice_of(pieces, sizeof(pieces) - 1));
    exchange_send_end(&exchange);
    fixture_run(&fixture);
    assert_int_equal(exchange.code, STATUS_OK);
    response = exchange_read(&exchange, &errata__v1__capture_feedback_event_response__descriptor);
    assert_non_null(response);
    assert_string_equal(response->event->layout_fingerprint, "piece");
    assert_string_equal(response->event->before_json, "{\"a\":1}");
    assert_string_equal(response->event->after_json, "{\"a\":20}");
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

int run_write_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeat_under_a_key_gets_the_first_answer),
        cmocka_unit_test(test_invalid_key_is_refused),
        cmocka_unit_test(test_write_past_its_deadline_is_not_started),
        cmocka_unit_test(test_cancelled_write_leaves_the_queue),
        cmocka_unit_test(test_deadline_after_cancel_ends_nothing_twice),
#ifdef ERRATA_FAULTS
        cmocka_unit_test(test_write_of_a_failed_commit_is_not_returned),
#endif
        cmocka_unit_test(test_large_body_is_decoded_on_the_pool),
        cmocka_unit_test(test_message_in_two_pieces_is_merged),
        cmocka_unit_test(test_slow_call_is_logged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
