/*
 * wait_test.c: the blocking forms of the generated stubs, against a scripted server on the loopback:
 * requests, results, and replies that do not decode.
 */
#include "tests/support/client/loopback.h"
#include "tests/unit/client_typed/typed_tests.h"

#include <errata/v1/event_service.client.h>
#include <errata/v1/layout_service.client.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A message of four bytes, {event: {seq: 7}} of either response, and one that does not decode. */
#define FRAME_SEQ_7 "\0\0\0\0\4\x0a\x02\x10\x07"
#define FRAME_BROKEN "\0\0\0\0\3\x0a\x09\x10"

static const char *const headers[] = {":status", "200", "content-type", "application/grpc", NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};
static const char *const refusal[] = {":status",          "200",         "content-type",
                                      "application/grpc", "grpc-status", "5",
                                      "grpc-message",     "no%20such",   NULL};

struct fixture {
    struct loopback server;
    struct errata_blocking *blocking;
    struct errata_answer *answer;
    size_t left; /* number of messages to send, or of replies to take */
    size_t taken;
    uint64_t seq;
};

static void fixture_open(struct fixture *fixture, const struct peer_script *script)
{
    struct errata_channel_config config;

    memset(fixture, 0, sizeof(*fixture));
    loopback_start(&fixture->server, script, 1);
    errata_channel_config_init(&config);
    config.server = fixture->server.address;
    assert_int_equal(errata_blocking_open(&config, NULL, 0, &fixture->blocking), ERRATA_OK);
}

static void fixture_close(struct fixture *fixture)
{
    errata_blocking_close(fixture->blocking);
    loopback_wait(&fixture->server);
}

static void fixture_free(struct fixture *fixture)
{
    errata_answer_free(fixture->answer);
    loopback_free(&fixture->server);
}

static enum errata_code code_of(const struct fixture *fixture)
{
    return errata_answer_status(fixture->answer)->code;
}

static const Errata__V1__GetEventResponse *get_event(struct fixture *fixture)
{
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    const Errata__V1__GetEventResponse *reply = NULL;

    errata_get_event_request_set_seq(&request, 7);
    assert_int_equal(
        errata_get_event_wait(fixture->blocking, &request, NULL, &fixture->answer, &reply),
        ERRATA_OK);
    return reply;
}

/* Goal: a unary call sends its request and returns its reply, which outlives the connection.
 * Method: the bytes that the server got, and the reply once all else is closed. */
static void test_unary_call_returns_its_reply(void **state)
{
    const struct peer_script script = {
        .headers = headers, .body = SLICE(FRAME_SEQ_7), .trailers = trailers_ok};
    const Errata__V1__GetEventResponse *reply = NULL;
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture, &script);
    reply = get_event(&fixture);
    fixture_close(&fixture);
    assert_int_equal(fixture.server.peers[0]->request_bytes, 7);
    assert_memory_equal(fixture.server.peers[0]->request, "\0\0\0\0\2\x10\x07", 7);
    assert_int_equal(code_of(&fixture), ERRATA_CODE_OK);
    assert_non_null(reply);
    assert_int_equal(reply->event->seq, 7);
    fixture_free(&fixture);
}

/* Goal: an error has no reply; a reply that does not decode is an error of the client. Method: a
 * refusal; broken bytes. */
static void test_error_has_no_reply(void **state)
{
    const struct peer_script refused = {.headers = refusal};
    const struct peer_script broken = {
        .headers = headers, .body = SLICE(FRAME_BROKEN), .trailers = trailers_ok};
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture, &refused);
    assert_null(get_event(&fixture));
    fixture_close(&fixture);
    assert_int_equal(code_of(&fixture), ERRATA_CODE_NOT_FOUND);
    assert_true(errata_answer_status(fixture.answer)->from_server);
    assert_string_equal(errata_answer_status(fixture.answer)->message, "no such");
    fixture_free(&fixture);

    fixture_open(&fixture, &broken);
    assert_null(get_event(&fixture));
    fixture_close(&fixture);
    assert_int_equal(code_of(&fixture), ERRATA_CODE_INTERNAL);
    assert_false(errata_answer_status(fixture.answer)->from_server);
    assert_int_equal(errata_answer_reply(fixture.answer).size, 0);
    fixture_free(&fixture);
}

static bool take(void *user, const Errata__V1__WatchEventsResponse *reply)
{
    struct fixture *fixture = user;

    fixture->taken++;
    fixture->seq = reply->event->seq;
    return fixture->taken < fixture->left;
}

static void watch(struct fixture *fixture, size_t take_at_most)
{
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    fixture->left = take_at_most;
    assert_int_equal(errata_watch_events_wait(fixture->blocking, &request, NULL, take, fixture,
                                              &fixture->answer),
                     ERRATA_OK);
    fixture_close(fixture);
}

/* Goal: a stream's replies are returned one by one, until it ends, the caller stops, or one does
 * not decode. Method: three replies and OK; the same, stopped after two; one valid and one
 * broken. */
static void test_stream_returns_each_reply(void **state)
{
    const struct peer_script three = {.headers = headers,
                                      .body = SLICE(FRAME_SEQ_7 FRAME_SEQ_7 FRAME_SEQ_7),
                                      .trailers = trailers_ok};
    const struct peer_script broken = {.headers = headers,
                                       .body = SLICE(FRAME_SEQ_7 FRAME_BROKEN FRAME_SEQ_7),
                                       .trailers = trailers_ok};
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture, &three);
    watch(&fixture, 9);
    assert_int_equal(fixture.taken, 3);
    assert_int_equal(fixture.seq, 7);
    assert_int_equal(code_of(&fixture), ERRATA_CODE_OK);
    fixture_free(&fixture);

    fixture_open(&fixture, &three);
    watch(&fixture, 2);
    assert_int_equal(fixture.taken, 2);
    assert_int_equal(code_of(&fixture), ERRATA_CODE_CANCELLED);
    fixture_free(&fixture);

    fixture_open(&fixture, &broken);
    watch(&fixture, 9);
    assert_int_equal(fixture.taken, 1);
    assert_int_equal(code_of(&fixture), ERRATA_CODE_INTERNAL);
    fixture_free(&fixture);
}

static enum errata_upload_step next(void *user,
                                    const Errata__V1__IngestDocumentStreamRequest **ret_message)
{
    static uint8_t content[] = {'%', 'P'};
    static Errata__V1__IngestDocumentStreamRequest message =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    struct fixture *fixture = user;

    if (fixture->left == 0) {
        return ERRATA_UPLOAD_END;
    }
    fixture->left--;
    message.content.data = content;
    message.content.len = sizeof(content);
    *ret_message = &message;
    return ERRATA_UPLOAD_MESSAGE;
}

/* Goal: a stream of requests sends each message and returns the reply. Method: two messages, their
 * bytes, {document: {page_count: 3}}. */
static void test_upload_sends_messages_and_returns_its_reply(void **state)
{
    const struct peer_script script = {
        .headers = headers, .body = SLICE("\0\0\0\0\4\x0a\x02\x28\x03"), .trailers = trailers_ok};
    const Errata__V1__IngestDocumentStreamResponse *reply = NULL;
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture, &script);
    fixture.left = 2;
    assert_int_equal(errata_ingest_document_stream_wait(fixture.blocking, NULL, next, &fixture,
                                                        &fixture.answer, &reply),
                     ERRATA_OK);
    fixture_close(&fixture);
    assert_int_equal(fixture.server.peers[0]->request_bytes, 18);
    assert_memory_equal(fixture.server.peers[0]->request,
                        "\0\0\0\0\4\x1a\x02%P\0\0\0\0\4\x1a\x02%P", 18);
    assert_int_equal(code_of(&fixture), ERRATA_CODE_OK);
    assert_non_null(reply);
    assert_non_null(reply->document);
    fixture_free(&fixture);
}

/* Goal: a missing callback starts nothing. Method: NULL for each. */
static void test_missing_callback_starts_nothing(void **state)
{
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;
    const Errata__V1__IngestDocumentStreamResponse *reply = NULL;
    struct errata_blocking *blocking = NULL;
    struct errata_answer *answer = NULL;

    (void)state;
    assert_int_equal(errata_blocking_open(NULL, NULL, 0, &blocking), ERRATA_OK);
    assert_int_equal(errata_watch_events_wait(blocking, &request, NULL, NULL, NULL, &answer),
                     ERRATA_INVALID);
    assert_int_equal(
        errata_ingest_document_stream_wait(blocking, NULL, NULL, NULL, &answer, &reply),
        ERRATA_INVALID);
    assert_null(answer);
    errata_blocking_close(blocking);
}

int run_wait_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary_call_returns_its_reply),
        cmocka_unit_test(test_error_has_no_reply),
        cmocka_unit_test(test_stream_returns_each_reply),
        cmocka_unit_test(test_upload_sends_messages_and_returns_its_reply),
        cmocka_unit_test(test_missing_callback_starts_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
