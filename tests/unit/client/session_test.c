/*
 * session_test.c: the client's side of HTTP/2 and gRPC against a scripted server. Each scenario runs
 * whole and byte by byte.
 */
#include "client/header.h"
#include "client/message.h"
#include "tests/unit/client/client_tests.h"
#include "tests/unit/client/peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define WHOLE SIZE_MAX

static const struct method_info unary = {.path = SLICE("/errata.v1.PromptService/GetExamples"),
                                         .stream = METHOD_UNARY};
static const struct method_info streaming = {.path = SLICE("/errata.v1.EventService/WatchEvents"),
                                             .stream = METHOD_SERVER_STREAM};

static const char *const grpc_headers[] = {":status", "200", "content-type", "application/grpc",
                                           NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};

/* State of a call. */
struct outcome {
    struct peer *peer;
    struct client_call *call;
    unsigned replies;
    size_t reply_bytes;
    uint8_t first_reply[16];
    unsigned ends;
    struct client_status status; /* its slices are invalid; texts are copied below */
    char message[256];
    char details[64];
    size_t details_bytes;
    char fields[512];
    bool pause; /* pauses after each reply */
    bool cancel; /* cancels at the first reply */
};

static void on_reply(void *user, struct slice message)
{
    struct outcome *outcome = user;

    outcome->replies++;
    outcome->reply_bytes += message.size;
    if (outcome->replies == 1 && message.size <= sizeof(outcome->first_reply)) {
        memcpy(outcome->first_reply, message.data, message.size);
    }
    if (outcome->pause) {
        client_session_pause(outcome->call);
    }
    if (outcome->cancel) {
        client_session_end(outcome->peer->session, outcome->call, CLIENT_CODE_CANCELLED, "enough");
    }
}

static void on_end(void *user, const struct client_status *status)
{
    struct outcome *outcome = user;
    size_t used = 0;

    outcome->ends++;
    outcome->status = *status;
    outcome->details_bytes = status->details.size;
    assert_true(status->message.size < sizeof(outcome->message));
    assert_true(status->details.size < sizeof(outcome->details));
    memcpy(outcome->message, status->message.data != NULL ? (const char *)status->message.data : "",
           status->message.size);
    memcpy(outcome->details, status->details.data != NULL ? (const char *)status->details.data : "",
           status->details.size);
    for (size_t i = 0; i < status->metadata_count; i++) {
        used += (size_t)snprintf(
            outcome->fields + used, sizeof(outcome->fields) - used, "%.*s=%.*s;",
            (int)status->metadata[i].key.size, (const char *)status->metadata[i].key.data,
            (int)status->metadata[i].value.size, (const char *)status->metadata[i].value.data);
    }
}

static void start(struct peer *peer, struct outcome *outcome, const struct method_info *method,
                  struct slice request, const struct client_options *options)
{
    const struct client_handlers handlers = {
        .user = outcome, .on_reply = on_reply, .on_end = on_end};
    const struct client_session_call call = {.method = method,
                                             .request = request,
                                             .options = options,
                                             .handlers = &handlers,
                                             .deadline_ms = 0};

    memset(outcome, 0, sizeof(*outcome));
    outcome->peer = peer;
    assert_int_equal(client_session_start(peer->session, &call, &outcome->call), OK);
    assert_int_equal(outcome->ends, 0);
}

/* Runs one call to its end by a script, whole and byte by byte, and expects the same of both. */
static void expect(const struct peer_script *script, const struct method_info *method,
                   uint32_t code, unsigned replies, const char *message)
{
    const size_t steps[] = {WHOLE, 1};

    for (size_t i = 0; i < 2; i++) {
        struct peer *peer = peer_new(script, steps[i]);
        struct outcome outcome;

        start(peer, &outcome, method, SLICE("request"), NULL);
        peer_pump(peer);
        assert_int_equal(outcome.ends, 1);
        assert_int_equal(outcome.status.code, code);
        assert_int_equal(outcome.replies, replies);
        if (message != NULL) {
            assert_string_equal(outcome.message, message);
        }
        assert_int_equal(client_session_call_count(peer->session), 0);
        peer_free(peer);
    }
}

/* Goal: a unary call returns its reply, and its request conforms to gRPC. Method: an ordinary
 * answer; the request's fields and bytes as the peer saw them. */
static void test_unary_call_returns_its_reply(void **state)
{
    const struct client_metadata metadata[] = {{SLICE("idempotency-key"), SLICE("k1")},
                                               {SLICE("trace-bin"), SLICE("\x01\x02\xff")}};
    const struct client_options options = {
        .timeout_ms = 1500, .metadata = metadata, .metadata_count = 2};
    const struct peer_script script = {
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\3abc"), .trailers = trailers_ok};
    struct peer *peer = peer_new(&script, 1);
    struct outcome outcome;

    (void)state;
    start(peer, &outcome, &unary, SLICE("hi"), &options);
    peer_pump(peer);
    assert_int_equal(outcome.status.code, CLIENT_CODE_OK);
    assert_true(outcome.status.from_server);
    assert_int_equal(outcome.replies, 1);
    assert_memory_equal(outcome.first_reply, "abc", 3);
    assert_int_equal(peer->request_bytes, 7);
    assert_memory_equal(peer->request, "\0\0\0\0\2hi", 7);
    assert_string_equal(peer->request_fields,
                        ":method: POST\n:scheme: http\n"
                        ":path: /errata.v1.PromptService/GetExamples\n"
                        ":authority: test:1\nte: trailers\ncontent-type: application/grpc\n"
                        "user-agent: tests\ngrpc-timeout: 1500m\n"
                        "authorization: Bearer errata_0_secret\n"
                        "idempotency-key: k1\ntrace-bin: AQL/\n");
    peer_free(peer);
}

/* Goal: the end of a call is read from trailers or from headers only, with message, details and
 * metadata. Method: one response of each kind. */
static void test_status_is_read_from_trailers_or_headers(void **state)
{
    static const char *const single[] = {":status",
                                         "200",
                                         "content-type",
                                         "application/grpc",
                                         "grpc-status",
                                         "5",
                                         "grpc-message",
                                         "no gr%C3%B6%C3%9Fe here%0A",
                                         "x-note",
                                         "yes",
                                         NULL};
    static const char *const late[] = {
        "grpc-status", "3",        "grpc-message", "bad", "grpc-status-details-bin",
        "CAM",         "list-bin", "YQ,Yg==",      NULL};
    const struct peer_script trailers_only = {.headers = single};
    const struct peer_script after_reply = {
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\1x"), .trailers = late};
    struct peer *peer = peer_new(&after_reply, 1);
    struct outcome outcome;

    (void)state;
    expect(&trailers_only, &unary, 5, 0,
           "no gr\xc3\xb6\xc3\x9f"
           "e here\n");
    start(peer, &outcome, &unary, SLICE(""), NULL);
    peer_pump(peer);
    assert_int_equal(outcome.status.code, 3);
    assert_int_equal(outcome.details_bytes, 2);
    assert_memory_equal(outcome.details, "\x08\x03", 2);
    assert_string_equal(outcome.fields, "list-bin=a;list-bin=b;");
    peer_free(peer);
}

/* Goal: answers that break the protocol end with the code that gRPC defines, never with OK. Method:
 * one script for each way to break it. */
static void test_broken_answer_is_never_ok(void **state)
{
    static const char *const not_found[] = {":status", "404", "content-type", "text/html", NULL};
    static const char *const html[] = {":status", "200", "content-type", "text/html", NULL};
    static const char *const brotli[] = {
        ":status", "200", "content-type", "application/grpc", "grpc-encoding", "br", NULL};
    static const char *const odd[] = {"grpc-status", "no number", NULL};
    const struct slice one = SLICE("\0\0\0\0\1x");
    const struct slice two = SLICE("\0\0\0\0\1x\0\0\0\0\1y");
    const struct peer_script scripts[] = {
        {.headers = not_found, .body = SLICE("<html>")},
        {.headers = html, .body = SLICE("<html>")},
        {.headers = brotli, .body = one, .trailers = trailers_ok},
        {.headers = grpc_headers, .body = one, .trailers = odd},
        {.headers = grpc_headers, .body = one},
        {.headers = grpc_headers, .trailers = trailers_ok},
        {.headers = grpc_headers, .body = SLICE("\0\0\0\0\5x"), .trailers = trailers_ok},
        {.headers = grpc_headers, .body = SLICE("\0\1\0\0\0"), .trailers = trailers_ok},
        {.headers = grpc_headers, .body = SLICE("\7\0\0\0\0"), .trailers = trailers_ok},
        {.reset = NGHTTP2_REFUSED_STREAM},
        {.reset = NGHTTP2_INTERNAL_ERROR}};
    const uint32_t codes[] = {CLIENT_CODE_UNIMPLEMENTED, CLIENT_CODE_UNKNOWN,
                              CLIENT_CODE_INTERNAL,      CLIENT_CODE_UNKNOWN,
                              CLIENT_CODE_UNKNOWN,       CLIENT_CODE_UNIMPLEMENTED,
                              CLIENT_CODE_INTERNAL,      CLIENT_CODE_RESOURCE_EXHAUSTED,
                              CLIENT_CODE_INTERNAL,      CLIENT_CODE_UNAVAILABLE,
                              CLIENT_CODE_INTERNAL};
    const unsigned replies[] = {0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0};

    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        expect(&scripts[i], &unary, codes[i], replies[i], NULL);
    }
    expect(&(struct peer_script){.headers = grpc_headers, .body = two, .trailers = trailers_ok},
           &unary, CLIENT_CODE_UNIMPLEMENTED, 1, NULL);
    expect(&(struct peer_script){.headers = grpc_headers, .body = two, .trailers = trailers_ok},
           &streaming, CLIENT_CODE_OK, 2, NULL);
}

/* Goal: gzip works both ways.
 * Method: a compressed answer to a compressed request, each undone by the message reader. */
static void test_gzip_works_in_both_directions(void **state)
{
    static const char *const headers[] = {
        ":status", "200", "content-type", "application/grpc", "grpc-encoding", "gzip", NULL};
    const struct client_options options = {.gzip = true};
    struct peer_script script = {.headers = headers, .trailers = trailers_ok};
    struct outcome outcome;
    struct peer *peer = NULL;
    uint8_t *body = NULL;

    (void)state;
    assert_int_equal(client_message_frame(SLICE("answer"), true, &body, &script.body.size), OK);
    script.body.data = body;
    peer = peer_new(&script, 1);
    start(peer, &outcome, &unary, SLICE("request"), &options);
    peer_pump(peer);
    assert_int_equal(outcome.status.code, CLIENT_CODE_OK);
    assert_memory_equal(outcome.first_reply, "answer", 6);
    assert_int_equal(peer->request[0], 1);
    assert_non_null(strstr(peer->request_fields, "grpc-encoding: gzip\n"));
    peer_free(peer);
    free(body);
}

/* Goal: a paused call stops the server at the stream's window, loses nothing, and ends only after
 * its last reply was taken; another call of the connection continues meanwhile. Method: an answer
 * of three windows in small messages, paused after each reply. */
static void test_paused_call_holds_the_server_at_its_window(void **state)
{
    enum {
        MESSAGE = 1024,
        COUNT = 700
    };
    static uint8_t body[COUNT * (MESSAGE + CLIENT_PREFIX_BYTES)];
    const struct peer_script script = {
        .headers = grpc_headers, .body = {body, sizeof(body)}, .trailers = trailers_ok};
    struct peer *peer = peer_new(&script, WHOLE);
    struct outcome outcome;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        body[i * (MESSAGE + CLIENT_PREFIX_BYTES) + 3] = MESSAGE >> 8;
    }
    start(peer, &outcome, &streaming, SLICE(""), NULL);
    outcome.pause = true;
    peer_pump(peer);
    assert_int_equal(outcome.replies, 1);
    assert_true(peer->body_sent <= (size_t)CLIENT_STREAM_WINDOW_BYTES);
    for (unsigned i = 1; i < COUNT; i++) {
        assert_int_equal(outcome.ends, 0);
        client_session_resume(outcome.call);
        client_session_report(peer->session);
        peer_pump(peer);
        assert_int_equal(outcome.replies, i + 1);
        assert_true(peer->body_sent <= (size_t)i * (MESSAGE + CLIENT_PREFIX_BYTES) +
                                           CLIENT_STREAM_WINDOW_BYTES +
                                           2 * (MESSAGE + CLIENT_PREFIX_BYTES));
    }
    assert_int_equal(outcome.ends, 1);
    assert_int_equal(outcome.status.code, CLIENT_CODE_OK);
    assert_int_equal(outcome.reply_bytes, COUNT * MESSAGE);
    peer_free(peer);
}

/* Goal: a large request passes through the server's window, and an answer that comes before the
 * request is complete ends the call.
 * Method: 900,000 bytes to a patient peer, then to one that answers at the first frame. */
static void test_large_request_passes_through_the_window(void **state)
{
    static const uint8_t request[900000];
    struct peer_script script = {
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\1x"), .trailers = trailers_ok};
    struct peer *peer = peer_new(&script, WHOLE);
    struct outcome outcome;

    (void)state;
    start(peer, &outcome, &unary, slice_of(request, sizeof(request)), NULL);
    peer_pump(peer);
    assert_int_equal(outcome.status.code, CLIENT_CODE_OK);
    assert_int_equal(peer->request_bytes, sizeof(request) + CLIENT_PREFIX_BYTES);
    peer_free(peer);

    script.early = true;
    peer = peer_new(&script, WHOLE);
    start(peer, &outcome, &unary, slice_of(request, sizeof(request)), NULL);
    peer_pump(peer);
    assert_int_equal(outcome.ends, 1);
    assert_int_equal(outcome.status.code, CLIENT_CODE_OK);
    assert_true(peer->request_bytes < sizeof(request));
    assert_int_equal(peer->resets_by_client, 1);
    peer_free(peer);
}

/* Goal: a cancelled call ends once, with CANCELLED, and the server is notified once. Method:
 * cancelled before anything was sent, while it waits, and from inside a reply. */
static void test_cancelled_call_ends_once(void **state)
{
    const struct peer_script silent = {.silent = true};
    const struct peer_script two = {
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\1x\0\0\0\0\1y"), .trailers = trailers_ok};
    struct peer *peer = peer_new(&silent, WHOLE);
    struct outcome outcome;

    (void)state;
    start(peer, &outcome, &unary, SLICE("x"), NULL);
    client_session_end(peer->session, outcome.call, CLIENT_CODE_CANCELLED, "early");
    peer_pump(peer);
    assert_int_equal(outcome.ends, 1);
    assert_int_equal(peer->request_fields_bytes, 0);

    start(peer, &outcome, &unary, SLICE("x"), NULL);
    peer_pump(peer);
    assert_int_equal(outcome.ends, 0);
    client_session_end(peer->session, outcome.call, CLIENT_CODE_CANCELLED, "now");
    client_session_end(peer->session, outcome.call, CLIENT_CODE_INTERNAL, "twice");
    peer_pump(peer);
    assert_int_equal(outcome.ends, 1);
    assert_int_equal(outcome.status.code, CLIENT_CODE_CANCELLED);
    assert_int_equal(peer->reset_by_client, NGHTTP2_CANCEL);
    assert_int_equal(peer->resets_by_client, 1);
    peer_free(peer);

    peer = peer_new(&two, WHOLE);
    start(peer, &outcome, &streaming, SLICE("x"), NULL);
    outcome.cancel = true;
    peer_pump(peer);
    assert_int_equal(outcome.replies, 1);
    assert_int_equal(outcome.ends, 1);
    assert_int_equal(outcome.status.code, CLIENT_CODE_CANCELLED);
    assert_int_equal(client_session_call_count(peer->session), 0);
    peer_free(peer);
}

/* Goal: the client keeps deadlines, independent of the server. Method: two calls to a silent peer;
 * the clock is a number that the test moves. */
static void test_client_ends_a_call_at_its_deadline(void **state)
{
    const struct peer_script silent = {.silent = true};
    struct peer *peer = peer_new(&silent, WHOLE);
    struct outcome outcomes[2] = {{.peer = peer}, {.peer = peer}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct client_handlers handlers = {
            .user = &outcomes[i], .on_reply = on_reply, .on_end = on_end};
        const struct client_session_call call = {
            .method = &unary, .handlers = &handlers, .deadline_ms = 1000 + 500 * i};

        assert_int_equal(client_session_start(peer->session, &call, &outcomes[i].call), OK);
    }
    assert_int_equal(client_session_tick(peer->session, 999), 1000);
    assert_int_equal(client_session_tick(peer->session, 1000), 1500);
    peer_pump(peer);
    assert_int_equal(outcomes[0].ends, 1);
    assert_int_equal(outcomes[0].status.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_false(outcomes[0].status.from_server);
    assert_int_equal(outcomes[1].ends, 0);
    assert_int_equal(client_session_tick(peer->session, 2000), 0);
    peer_pump(peer);
    assert_int_equal(outcomes[1].ends, 1);
    peer_free(peer);
}

/* Goal: after a GOAWAY of the server, calls that it accepted finish, others and later ones are
 * UNAVAILABLE; when the connection is lost, all are. Method: two calls, of which the peer accepts
 * the first; then a lost connection. */
static void test_goaway_finishes_accepted_calls(void **state)
{
    const struct peer_script silent = {.silent = true};
    struct peer *peer = peer_new(&silent, WHOLE);
    struct outcome taken;
    struct outcome refused;
    struct outcome late;

    (void)state;
    start(peer, &taken, &unary, SLICE("x"), NULL);
    start(peer, &refused, &unary, SLICE("x"), NULL);
    peer_pump(peer);
    peer_goaway(peer, 1);
    peer_pump(peer);
    assert_true(client_session_is_closing(peer->session));
    assert_int_equal(taken.ends, 0);
    assert_int_equal(refused.ends, 1);
    assert_int_equal(refused.status.code, CLIENT_CODE_UNAVAILABLE);
    start(peer, &late, &unary, SLICE("x"), NULL);
    peer_pump(peer);
    assert_int_equal(late.ends, 1);
    assert_int_equal(late.status.code, CLIENT_CODE_UNAVAILABLE);
    client_session_fail(peer->session, CLIENT_CODE_UNAVAILABLE, "cut off");
    client_session_report(peer->session);
    assert_int_equal(taken.ends, 1);
    assert_int_equal(taken.status.code, CLIENT_CODE_UNAVAILABLE);
    assert_string_equal(taken.message, "cut off");
    peer_free(peer);
}

/* Goal: an invalid call is refused at once, without a callback. Method: metadata reserved by the
 * protocol, too much of it, and a request over the limit. */
static void test_unsendable_call_is_refused_without_callback(void **state)
{
    static const uint8_t large[PEER_BODY_BYTES_MAX + 1];
    const struct client_metadata reserved = {SLICE("grpc-status"), SLICE("0")};
    const struct client_options bad = {.metadata = &reserved, .metadata_count = 1};
    const struct client_options many = {.metadata = &reserved,
                                        .metadata_count = CLIENT_METADATA_MAX + 1};
    const struct peer_script silent = {.silent = true};
    struct peer *peer = peer_new(&silent, WHOLE);
    const struct client_handlers handlers = {.user = NULL, .on_reply = on_reply, .on_end = on_end};
    struct client_session_call call = {.method = &unary, .handlers = &handlers, .options = &bad};
    struct client_call *started = NULL;

    (void)state;
    assert_int_equal(client_session_start(peer->session, &call, &started), ERR_INVALID);
    call.options = &many;
    assert_int_equal(client_session_start(peer->session, &call, &started), ERR_INVALID);
    call.options = NULL;
    call.request = slice_of(large, sizeof(large));
    assert_int_equal(client_session_start(peer->session, &call, &started), ERR_TOO_LARGE);
    assert_int_equal(client_session_call_count(peer->session), 0);
    peer_free(peer);
}

/* Goal: bytes that are not HTTP/2 end the connection, not the program. Method: an HTTP/1.1
 * response. */
static void test_bytes_of_another_protocol_end_the_connection(void **state)
{
    const struct peer_script silent = {.silent = true};
    struct peer *peer = peer_new(&silent, WHOLE);
    uint8_t bytes[1024];

    (void)state;
    assert_int_equal(client_session_feed(peer->session, SLICE("HTTP/1.1 400 Bad Request\r\n\r\n")),
                     OK);
    assert_false(client_session_is_over(peer->session));
    assert_true(client_session_drain(peer->session, bytes, sizeof(bytes)) < sizeof(bytes));
    assert_true(client_session_is_over(peer->session));
    assert_false(client_session_is_closing(peer->session));
    peer_free(peer);
}

int run_session_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary_call_returns_its_reply),
        cmocka_unit_test(test_status_is_read_from_trailers_or_headers),
        cmocka_unit_test(test_broken_answer_is_never_ok),
        cmocka_unit_test(test_gzip_works_in_both_directions),
        cmocka_unit_test(test_paused_call_holds_the_server_at_its_window),
        cmocka_unit_test(test_large_request_passes_through_the_window),
        cmocka_unit_test(test_cancelled_call_ends_once),
        cmocka_unit_test(test_client_ends_a_call_at_its_deadline),
        cmocka_unit_test(test_goaway_finishes_accepted_calls),
        cmocka_unit_test(test_unsendable_call_is_refused_without_callback),
        cmocka_unit_test(test_bytes_of_another_protocol_end_the_connection)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
