/*
 * wait_test.c: the blocking forms of the generated stubs, against a scripted server on the loopback:
 * what they send, what they give, and what they make of replies that are none.
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

struct world {
    struct loopback server;
    struct errata_blocking *blocking;
    struct errata_answer *answer;
    size_t left; /* number of messages to send, or of replies to take */
    size_t taken;
    uint64_t seq;
};

static void world_open(struct world *world, const struct peer_script *script)
{
    struct errata_channel_config config;

    memset(world, 0, sizeof(*world));
    loopback_start(&world->server, script, 1);
    errata_channel_config_init(&config);
    config.server = world->server.address;
    assert_int_equal(errata_blocking_open(&config, NULL, 0, &world->blocking), ERRATA_OK);
}

static void world_close(struct world *world)
{
    errata_blocking_close(world->blocking);
    loopback_wait(&world->server);
}

static void world_free(struct world *world)
{
    errata_answer_free(world->answer);
    loopback_free(&world->server);
}

static enum errata_code code_of(const struct world *world)
{
    return errata_answer_status(world->answer)->code;
}

static const Errata__V1__GetEventResponse *get_event(struct world *world)
{
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    const Errata__V1__GetEventResponse *reply = NULL;

    errata_get_event_request_set_seq(&request, 7);
    assert_int_equal(errata_get_event_wait(world->blocking, &request, NULL, &world->answer, &reply),
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
    struct world world;

    (void)state;
    world_open(&world, &script);
    reply = get_event(&world);
    world_close(&world);
    assert_int_equal(world.server.peers[0]->request_bytes, 7);
    assert_memory_equal(world.server.peers[0]->request, "\0\0\0\0\2\x10\x07", 7);
    assert_int_equal(code_of(&world), ERRATA_CODE_OK);
    assert_non_null(reply);
    assert_int_equal(reply->event->seq, 7);
    world_free(&world);
}

/* Goal: an error has no reply, nor has a reply that does not decode, which is a client-side error.
 * Method: a refusal; broken bytes. */
static void test_error_has_no_reply(void **state)
{
    const struct peer_script refused = {.headers = refusal};
    const struct peer_script broken = {
        .headers = headers, .body = SLICE(FRAME_BROKEN), .trailers = trailers_ok};
    struct world world;

    (void)state;
    world_open(&world, &refused);
    assert_null(get_event(&world));
    world_close(&world);
    assert_int_equal(code_of(&world), ERRATA_CODE_NOT_FOUND);
    assert_true(errata_answer_status(world.answer)->from_server);
    assert_string_equal(errata_answer_status(world.answer)->message, "no such");
    world_free(&world);

    world_open(&world, &broken);
    assert_null(get_event(&world));
    world_close(&world);
    assert_int_equal(code_of(&world), ERRATA_CODE_INTERNAL);
    assert_false(errata_answer_status(world.answer)->from_server);
    assert_int_equal(errata_answer_reply(world.answer).size, 0);
    world_free(&world);
}

static bool take(void *user, const Errata__V1__WatchEventsResponse *reply)
{
    struct world *world = user;

    world->taken++;
    world->seq = reply->event->seq;
    return world->taken < world->left;
}

static void watch(struct world *world, size_t take_at_most)
{
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    world->left = take_at_most;
    assert_int_equal(
        errata_watch_events_wait(world->blocking, &request, NULL, take, world, &world->answer),
        ERRATA_OK);
    world_close(world);
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
    struct world world;

    (void)state;
    world_open(&world, &three);
    watch(&world, 9);
    assert_int_equal(world.taken, 3);
    assert_int_equal(world.seq, 7);
    assert_int_equal(code_of(&world), ERRATA_CODE_OK);
    world_free(&world);

    world_open(&world, &three);
    watch(&world, 2);
    assert_int_equal(world.taken, 2);
    assert_int_equal(code_of(&world), ERRATA_CODE_CANCELLED);
    world_free(&world);

    world_open(&world, &broken);
    watch(&world, 9);
    assert_int_equal(world.taken, 1);
    assert_int_equal(code_of(&world), ERRATA_CODE_INTERNAL);
    world_free(&world);
}

static enum errata_upload_step next(void *user,
                                    const Errata__V1__IngestDocumentStreamRequest **ret_message)
{
    static uint8_t content[] = {'%', 'P'};
    static Errata__V1__IngestDocumentStreamRequest message =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    struct world *world = user;

    if (world->left == 0) {
        return ERRATA_UPLOAD_END;
    }
    world->left--;
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
    struct world world;

    (void)state;
    world_open(&world, &script);
    world.left = 2;
    assert_int_equal(errata_ingest_document_stream_wait(world.blocking, NULL, next, &world,
                                                        &world.answer, &reply),
                     ERRATA_OK);
    world_close(&world);
    assert_int_equal(world.server.peers[0]->request_bytes, 18);
    assert_memory_equal(world.server.peers[0]->request, "\0\0\0\0\4\x1a\x02%P\0\0\0\0\4\x1a\x02%P",
                        18);
    assert_int_equal(code_of(&world), ERRATA_CODE_OK);
    assert_non_null(reply);
    assert_non_null(reply->document);
    world_free(&world);
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
