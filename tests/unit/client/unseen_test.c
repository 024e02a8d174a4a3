/*
 * unseen_test.c: calls that wait for the server, and which of the failed calls it has not seen:
 * those may be repeated regardless of their effect. The server is scripted and reads byte by byte.
 */
#include "client/header.h"
#include "client/session_internal.h"
#include "tests/unit/client/client_tests.h"
#include "tests/unit/client/peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct method_info unary = {.path = SLICE("/errata.v1.PromptService/GetExamples"),
                                         .stream = METHOD_UNARY};
static const struct method_info uploading = {
    .path = SLICE("/errata.v1.LayoutService/IngestDocumentStream"), .stream = METHOD_CLIENT_STREAM};
static const char *const grpc_headers[] = {":status", "200", "content-type", "application/grpc",
                                           NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};
static const struct peer_script silent = {.silent = true};

struct outcome {
    struct client_call *call;
    unsigned rooms;
    unsigned ends;
    uint32_t code;
    bool unseen;
};

static void on_reply(void *user, struct slice message)
{
    (void)user;
    (void)message;
}

static void on_end(void *user, const struct client_status *status)
{
    struct outcome *outcome = user;

    outcome->ends++;
    outcome->code = status->code;
    outcome->unseen = status->unseen;
}

static void on_writable(void *user)
{
    struct outcome *outcome = user;

    outcome->rooms++;
}

static void start_method(struct peer *peer, const struct method_info *method, int64_t deadline_ms,
                         struct outcome *outcome)
{
    const struct client_handlers handlers = {
        .user = outcome, .on_reply = on_reply, .on_end = on_end, .on_writable = on_writable};
    const struct client_session_call call = {
        .method = method, .handlers = &handlers, .deadline_ms = deadline_ms};

    *outcome = (struct outcome){.call = NULL};
    assert_int_equal(client_session_start(peer->session, &call, &outcome->call), OK);
}

static void start(struct peer *peer, struct outcome *outcome)
{
    start_method(peer, &unary, 0, outcome);
}

static void expect_end(const struct outcome *outcome, uint32_t code, bool unseen)
{
    assert_int_equal(outcome->ends, 1);
    assert_int_equal(outcome->code, code);
    assert_int_equal(outcome->unseen, unseen);
}

static void cut_off(struct peer *peer)
{
    client_session_fail(peer->session, CLIENT_CODE_UNAVAILABLE, "cut off");
    client_session_report(peer->session);
}

/* Goal: a call is unseen until the first byte of its HEADERS is written to the socket, and never
 * after. Method: the connection is lost before the server's SETTINGS, before the bytes are taken,
 * after one of them, and before the start. */
static void test_call_is_unseen_until_its_first_byte(void **state)
{
    struct peer *peer = peer_new(&silent, SIZE_MAX);
    struct outcome outcome;
    uint8_t byte = 0;

    (void)state;
    peer->mute = true;
    start(peer, &outcome);
    peer_pump(peer);
    assert_int_equal(peer->requests, 0); /* it has sent no SETTINGS, so its protocol is unknown */
    assert_false(client_session_is_ready(peer->session));
    cut_off(peer);
    expect_end(&outcome, CLIENT_CODE_UNAVAILABLE, true);
    start(peer, &outcome);
    client_session_report(peer->session);
    expect_end(&outcome, CLIENT_CODE_UNAVAILABLE, true);
    peer_free(peer);

    for (unsigned taken = 0; taken < 2; taken++) {
        peer = peer_new(&silent, SIZE_MAX);
        peer_pump(peer);
        assert_true(client_session_is_ready(peer->session));
        start(peer, &outcome);
        assert_int_equal(client_session_drain(peer->session, &byte, taken), taken);
        cut_off(peer);
        expect_end(&outcome, CLIENT_CODE_UNAVAILABLE, taken == 0);
        peer_free(peer);
    }
}

/* Goal: a call that the client ends is unseen only if nothing of it was sent. Method: cancelled
 * before and after, and at its deadline before. */
static void test_ended_call_is_unseen_only_if_unsent(void **state)
{
    struct peer *peer = peer_new(&silent, 1);
    struct outcome outcome;

    (void)state;
    start(peer, &outcome);
    client_session_end(peer->session, outcome.call, CLIENT_CODE_CANCELLED, "early");
    peer_pump(peer);
    expect_end(&outcome, CLIENT_CODE_CANCELLED, true);
    start(peer, &outcome);
    peer_pump(peer);
    client_session_end(peer->session, outcome.call, CLIENT_CODE_CANCELLED, "late");
    peer_pump(peer);
    expect_end(&outcome, CLIENT_CODE_CANCELLED, false);
    start_method(peer, &unary, 1000, &outcome);
    assert_int_equal(client_session_tick(peer->session, 1000), 0);
    peer_pump(peer);
    expect_end(&outcome, CLIENT_CODE_DEADLINE_EXCEEDED, true);
    assert_int_equal(peer->requests, 1);
    peer_free(peer);
}

/* Goal: REFUSED_STREAM means that the call was not processed; other errors do not, nor does
 * REFUSED_STREAM after a part of the answer (RFC 9113, 8.7). Method: resets with each, and one
 * after headers. */
static void test_only_refused_stream_is_unseen(void **state)
{
    static const struct peer_script refusing = {.reset = NGHTTP2_REFUSED_STREAM};
    static const struct peer_script failing = {.reset = NGHTTP2_INTERNAL_ERROR};
    nghttp2_nv headers[] = {
        {(uint8_t *)(uintptr_t) ":status", (uint8_t *)(uintptr_t) "200", 7, 3, 0},
        {(uint8_t *)(uintptr_t) "content-type", (uint8_t *)(uintptr_t) "application/grpc", 12, 16,
         0}};
    struct peer *peer = peer_new(&refusing, 1);
    struct outcome outcome;

    (void)state;
    start(peer, &outcome);
    peer_pump(peer);
    expect_end(&outcome, CLIENT_CODE_UNAVAILABLE, true);
    peer_free(peer);

    peer = peer_new(&failing, 1);
    start(peer, &outcome);
    peer_pump(peer);
    expect_end(&outcome, CLIENT_CODE_INTERNAL, false);
    peer_free(peer);

    peer = peer_new(&silent, 1);
    start(peer, &outcome);
    peer_pump(peer);
    assert_int_equal(nghttp2_submit_headers(peer->http2, 0, 1, NULL, headers, 2, NULL), 0);
    peer_pump(peer);
    assert_int_equal(outcome.ends, 0);
    assert_int_equal(nghttp2_submit_rst_stream(peer->http2, 0, 1, NGHTTP2_REFUSED_STREAM), 0);
    peer_pump(peer);
    expect_end(&outcome, CLIENT_CODE_UNAVAILABLE, false);
    peer_free(peer);
}

/* Goal: a server that sends GOAWAY has not seen the calls after its last stream id, unsent calls,
 * and later ones; the others continue. Method: three calls, two of them sent, of which the server
 * accepts the first. */
static void test_calls_after_the_last_accepted_are_unseen(void **state)
{
    static const struct peer_script two = {.silent = true, .streams_max = 2};
    struct peer *peer = peer_new(&two, 1);
    struct outcome taken;
    struct outcome later;
    struct outcome waiting;
    struct outcome late;

    (void)state;
    start(peer, &taken);
    start(peer, &later);
    start(peer, &waiting);
    peer_pump(peer);
    assert_int_equal(peer->requests, 2);
    peer_goaway(peer, 1);
    peer_pump(peer);
    assert_int_equal(taken.ends, 0);
    expect_end(&later, CLIENT_CODE_UNAVAILABLE, true);
    expect_end(&waiting, CLIENT_CODE_UNAVAILABLE, true);
    start(peer, &late);
    peer_pump(peer);
    expect_end(&late, CLIENT_CODE_UNAVAILABLE, true);
    assert_int_equal(client_session_calls_under_way(peer->session), 1);
    cut_off(peer);
    expect_end(&taken, CLIENT_CODE_UNAVAILABLE, false);
    peer_free(peer);
}

/* Goal: in a graceful shutdown a second GOAWAY has the last accepted stream: calls that were sent
 * meanwhile are accepted or unseen accordingly. Method: GOAWAY of all streams, then of the
 * first. */
static void test_second_goaway_decides_which_calls_are_unseen(void **state)
{
    struct peer *peer = peer_new(&silent, 1);
    struct outcome taken;
    struct outcome later;

    (void)state;
    start(peer, &taken);
    start(peer, &later);
    peer_pump(peer);
    peer_goaway(peer, INT32_MAX);
    peer_pump(peer);
    assert_true(client_session_is_closing(peer->session));
    assert_int_equal(later.ends, 0);
    peer_goaway(peer, 1);
    peer_pump(peer);
    expect_end(&later, CLIENT_CODE_UNAVAILABLE, true);
    assert_int_equal(taken.ends, 0);
    peer_free(peer);
}

/* Goal: calls above the server's stream limit wait in order; one that ends meanwhile is not sent.
 * Method: five calls to a server with a limit of two; the third is cancelled, then the first
 * ends. */
static void test_calls_above_the_stream_limit_wait(void **state)
{
    static const struct peer_script two = {.silent = true, .streams_max = 2};
    struct peer *peer = peer_new(&two, 1);
    struct outcome outcomes[5];

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        start(peer, &outcomes[i]);
    }
    peer_pump(peer);
    assert_int_equal(peer->requests, 2);
    client_session_end(peer->session, outcomes[2].call, CLIENT_CODE_CANCELLED, "enough");
    client_session_report(peer->session);
    expect_end(&outcomes[2], CLIENT_CODE_CANCELLED, true);
    assert_int_equal(client_session_call_count(peer->session), 4);
    client_session_end(peer->session, outcomes[0].call, CLIENT_CODE_CANCELLED, "enough");
    peer_pump(peer);
    expect_end(&outcomes[0], CLIENT_CODE_CANCELLED, false);
    assert_int_equal(peer->requests, 3);
    assert_int_equal(outcomes[3].call->stream_id, 5);
    assert_int_equal(outcomes[4].call->stream_id, 0);
    peer_free(peer);
}

/* Goal: an upload that waits for its stream buffers no messages. Method: the second of two uploads
 * to a server with a limit of one stream. */
static void test_waiting_upload_buffers_nothing(void **state)
{
    static const struct peer_script one = {.silent = true, .streams_max = 1};
    struct peer *peer = peer_new(&one, 1);
    struct outcome first;
    struct outcome second;

    (void)state;
    start_method(peer, &uploading, 0, &first);
    client_session_report(peer->session);
    assert_int_equal(first.rooms, 0);
    peer_pump(peer);
    assert_int_equal(first.rooms, 1);
    start_method(peer, &uploading, 0, &second);
    peer_pump(peer);
    assert_int_equal(second.rooms, 0);
    client_session_end(peer->session, first.call, CLIENT_CODE_CANCELLED, "enough");
    peer_pump(peer);
    assert_int_equal(second.rooms, 1);
    peer_free(peer);
}

/* Goal: a connection whose stream ids are used up reports that, instead of failing each call.
 * Method: the last id there is, with one call sent and one that waits after it. */
static void test_exhausted_stream_ids_end_the_connection(void **state)
{
    const struct peer_script answering = {
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\1x"), .trailers = trailers_ok};
    struct peer *peer = peer_new(&answering, 1);
    struct outcome last;
    struct outcome waiting;

    (void)state;
    peer_pump(peer);
    assert_int_equal(nghttp2_session_set_next_stream_id(peer->session->http2, INT32_MAX), 0);
    start(peer, &last);
    assert_false(client_session_is_closing(peer->session));
    start(peer, &waiting);
    assert_true(client_session_is_closing(peer->session));
    peer_pump(peer);
    expect_end(&last, CLIENT_CODE_OK, false);
    expect_end(&waiting, CLIENT_CODE_UNAVAILABLE, true);
    peer_free(peer);
}

/* Goal: calls that start later use a new token. Method: a call that waits while the token changes,
 * one after it, and one without any. */
static void test_new_token_is_used_by_later_calls(void **state)
{
    struct peer *peer = peer_new(&silent, 1);
    struct outcome outcomes[3];

    (void)state;
    start(peer, &outcomes[0]);
    assert_int_equal(client_session_set_token(peer->session, SLICE("errata_1_other")), OK);
    peer_pump(peer);
    assert_non_null(strstr(peer->request_fields, "authorization: Bearer errata_0_secret\n"));
    start(peer, &outcomes[1]);
    peer_pump(peer);
    assert_non_null(strstr(peer->request_fields, "authorization: Bearer errata_1_other\n"));
    peer->request_fields_bytes = 0;
    assert_int_equal(client_session_set_token(peer->session, SLICE("")), OK);
    start(peer, &outcomes[2]);
    peer_pump(peer);
    assert_int_equal(peer->requests, 3);
    assert_null(strstr(peer->request_fields, "authorization"));
    peer_free(peer);
}

/* Goal: each of many deadlines is kept, deadlines of ended calls have no effect, and calls above the
 * limit are refused. Method: as many calls as allowed, with deadlines in random order, every third
 * cancelled; then time passes in steps of ten. */
static void test_many_deadlines_are_each_kept(void **state)
{
    struct peer *peer = peer_new(&silent, SIZE_MAX);
    struct outcome *outcomes = calloc(CLIENT_CALLS_MAX, sizeof(*outcomes));
    const struct client_session_call more = {
        .method = &unary, .handlers = &(const struct client_handlers){.on_end = on_end}};
    struct client_call *refused_call = NULL;
    int64_t next_ms = 0;

    (void)state;
    assert_non_null(outcomes);
    for (size_t i = 0; i < CLIENT_CALLS_MAX; i++) {
        start_method(peer, &unary, (int64_t)(i * 7919 % CLIENT_CALLS_MAX) + 1, &outcomes[i]);
    }
    assert_int_equal(client_session_start(peer->session, &more, &refused_call), ERR_BUSY);
    for (size_t i = 0; i < CLIENT_CALLS_MAX; i += 3) {
        client_session_end(peer->session, outcomes[i].call, CLIENT_CODE_CANCELLED, "enough");
    }
    client_session_report(peer->session);
    for (int64_t now_ms = 10; now_ms <= CLIENT_CALLS_MAX; now_ms += 10) {
        next_ms = client_session_tick(peer->session, now_ms);
        client_session_report(peer->session);
        assert_true(next_ms > now_ms || next_ms == 0);
        assert_true(next_ms <= now_ms + 10);
    }
    assert_int_equal(next_ms, 0);
    for (size_t i = 0; i < CLIENT_CALLS_MAX; i++) {
        expect_end(&outcomes[i], i % 3 == 0 ? CLIENT_CODE_CANCELLED : CLIENT_CODE_DEADLINE_EXCEEDED,
                   true);
    }
    assert_int_equal(client_session_call_count(peer->session), 0);
    free(outcomes);
    peer_free(peer);
}

int run_unseen_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_is_unseen_until_its_first_byte),
        cmocka_unit_test(test_ended_call_is_unseen_only_if_unsent),
        cmocka_unit_test(test_only_refused_stream_is_unseen),
        cmocka_unit_test(test_calls_after_the_last_accepted_are_unseen),
        cmocka_unit_test(test_second_goaway_decides_which_calls_are_unseen),
        cmocka_unit_test(test_calls_above_the_stream_limit_wait),
        cmocka_unit_test(test_waiting_upload_buffers_nothing),
        cmocka_unit_test(test_exhausted_stream_ids_end_the_connection),
        cmocka_unit_test(test_new_token_is_used_by_later_calls),
        cmocka_unit_test(test_many_deadlines_are_each_kept)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
