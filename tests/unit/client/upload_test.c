/*
 * upload_test.c: client streams over a session, against a scripted server; each scenario that could
 * depend on the size of reads runs whole and byte by byte. blocking_test.c tests uploads over
 * sockets.
 */
#include "client/header.h"
#include "tests/unit/client/client_tests.h"
#include "tests/unit/client/peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define WHOLE SIZE_MAX
#define MESSAGE_BYTES ((size_t)100000)
/* HTTP/2's default window (RFC 9113, 6.9.2). */
#define WINDOW_BYTES ((size_t)65535)

static const struct method_info uploading = {
    .path = SLICE("/errata.v1.LayoutService/IngestDocumentStream"), .stream = METHOD_CLIENT_STREAM};
static const struct method_info unary = {.path = SLICE("/errata.v1.LayoutService/GetDocument"),
                                         .stream = METHOD_UNARY};

static const char *const grpc_headers[] = {":status", "200", "content-type", "application/grpc",
                                           NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};
#define REFUSAL_CODE 3
static const char *const refusal[] = {":status",          "200",         "content-type",
                                      "application/grpc", "grpc-status", "3",
                                      "grpc-message",     "no%20PDF",    NULL};
static const struct peer_script taking = {
    .headers = grpc_headers, .body = SLICE("\0\0\0\0\2ok"), .trailers = trailers_ok};

/* A caller that sends `left` messages as there is room, and then half-closes. */
struct sender {
    struct peer *peer;
    struct client_call *call;
    struct slice message;
    size_t left;
    size_t sent;
    bool never_closes;
    bool cancels; /* cancels in on_writable */
    unsigned rooms;
    unsigned replies;
    unsigned ends;
    struct client_status status; /* its slices are invalid */
    enum err send_at_end; /* result of sending at the end */
    enum err close_at_end;
};

static void on_reply(void *user, struct slice message)
{
    struct sender *sender = user;

    assert_true(slice_equal(message, SLICE("ok")));
    sender->replies++;
}

static void on_end(void *user, const struct client_status *status)
{
    struct sender *sender = user;

    sender->ends++;
    sender->status = *status;
    sender->send_at_end = client_session_send(sender->peer->session, sender->call, sender->message);
    sender->close_at_end = client_session_half_close(sender->peer->session, sender->call);
}

static void on_writable(void *user)
{
    struct sender *sender = user;
    struct client_session *session = sender->peer->session;

    sender->rooms++;
    assert_int_equal(sender->ends, 0);
    if (sender->cancels) {
        client_session_end(session, sender->call, CLIENT_CODE_CANCELLED, "changed my mind");
        return;
    }
    while (sender->left > 0) {
        enum err err = client_session_send(session, sender->call, sender->message);

        if (err == ERR_BUSY) {
            return;
        }
        assert_int_equal(err, OK);
        sender->left--;
        sender->sent++;
    }
    if (!sender->never_closes) {
        assert_int_equal(client_session_half_close(session, sender->call), OK);
    }
}

static struct client_handlers handlers_of(struct sender *sender)
{
    return (struct client_handlers){
        .user = sender, .on_reply = on_reply, .on_end = on_end, .on_writable = on_writable};
}

static void start(struct peer *peer, struct sender *sender, struct slice message, size_t count)
{
    const struct client_handlers handlers = handlers_of(sender);
    const struct client_session_call call = {.method = &uploading, .handlers = &handlers};

    *sender = (struct sender){.peer = peer, .message = message, .left = count};
    assert_int_equal(client_session_start(peer->session, &call, &sender->call), OK);
    assert_int_equal(sender->rooms, 0);
}

static void assert_over(const struct sender *sender, uint32_t code)
{
    assert_int_equal(sender->ends, 1);
    assert_int_equal(sender->status.code, code);
    assert_int_equal(sender->send_at_end, ERR_CANCELLED);
    assert_int_equal(sender->close_at_end, ERR_CANCELLED);
    assert_int_equal(client_session_call_count(sender->peer->session), 0);
}

/* Goal: messages arrive framed and in order, then the end, and the one reply is reported. Method:
 * three messages, none, and an empty one. */
static void test_messages_arrive_in_order_with_one_reply(void **state)
{
    static const struct {
        struct slice message;
        size_t count;
        struct slice wanted;
    } table[] = {
        {SLICE("abc"), 3, SLICE("\0\0\0\0\3abc\0\0\0\0\3abc\0\0\0\0\3abc")},
        {SLICE("abc"), 0, SLICE("")},
        {SLICE(""), 1, SLICE("\0\0\0\0\0")},
    };
    const size_t steps[] = {WHOLE, 1};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct peer *peer = peer_new(&taking, steps[i % 2]);
        struct sender sender;

        start(peer, &sender, table[i / 2].message, table[i / 2].count);
        peer_pump(peer);
        assert_over(&sender, CLIENT_CODE_OK);
        assert_true(sender.status.from_server);
        assert_int_equal(sender.replies, 1);
        assert_true(peer->request_ended);
        assert_int_equal(peer->request_bytes, table[i / 2].wanted.size);
        assert_memory_equal(peer->request, table[i / 2].wanted.data, peer->request_bytes);
        assert_int_equal(peer->resets_by_client, 0);
        peer_free(peer);
    }
}

/* Goal: a peer that stops reading stops the sender, and the waiting bytes are bounded; when it
 * reads, everything arrives. Method: 50 messages of 100,000 bytes; no window update, then updates
 * of 50,000 bytes. */
static void test_messages_to_a_stopped_peer_are_bounded(void **state)
{
    static const uint8_t bytes[MESSAGE_BYTES];
    const struct peer_script script = {.headers = grpc_headers,
                                       .body = SLICE("\0\0\0\0\2ok"),
                                       .trailers = trailers_ok,
                                       .stops_reading = true};
    struct peer *peer = peer_new(&script, WHOLE);
    struct sender sender;
    unsigned rooms = 0;

    (void)state;
    start(peer, &sender, slice_of(bytes, sizeof(bytes)), 50);
    peer_pump(peer);
    assert_int_equal(peer->request_bytes, WINDOW_BYTES);
    assert_true(sender.sent * MESSAGE_BYTES >= CLIENT_SEND_BYTES_HIGH);
    assert_true((sender.sent - 1) * MESSAGE_BYTES < CLIENT_SEND_BYTES_HIGH + WINDOW_BYTES);
    rooms = sender.rooms;
    peer_pump(peer);
    assert_int_equal(sender.rooms, rooms); /* the callback did not run again */
    while (sender.ends == 0) {
        size_t before = peer->request_bytes;

        peer_read(peer, 1);
        peer_pump(peer);
        assert_true(sender.ends == 1 || peer->request_bytes > before);
        assert_true(sender.sent * MESSAGE_BYTES <=
                    peer->request_bytes + CLIENT_SEND_BYTES_HIGH + MESSAGE_BYTES);
    }
    assert_over(&sender, CLIENT_CODE_OK);
    assert_int_equal(peer->request_bytes, 50 * (MESSAGE_BYTES + 5));
    assert_true(sender.rooms > 10);
    peer_free(peer);
}

/* Goal: a server's refusal in the middle ends the upload at once, and nothing more is sent. Method:
 * only trailers after 150,000 of 5,000,000 bytes, from a peer that reads and from one that has
 * stopped; without a reset by the server, so that the client's is visible. */
static void test_refusal_in_the_middle_ends_the_upload(void **state)
{
    static const uint8_t bytes[MESSAGE_BYTES];
    struct peer_script script = {.headers = refusal, .early = true};
    const size_t steps[] = {WHOLE, 1};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct peer *peer = NULL;
        struct sender sender;

        script.stops_reading = i / 2 == 1;
        script.early_bytes = script.stops_reading ? WINDOW_BYTES : 150000;
        peer = peer_new(&script, steps[i % 2]);
        start(peer, &sender, slice_of(bytes, sizeof(bytes)), 50);
        peer_pump(peer);
        assert_over(&sender, REFUSAL_CODE);
        assert_true(sender.status.from_server);
        assert_int_equal(sender.replies, 0);
        assert_true(sender.left > 0);
        assert_false(peer->request_ended);
        assert_int_equal(peer->resets_by_client, 1);
        assert_int_equal(peer->reset_by_client, NGHTTP2_CANCEL);
        peer_free(peer);
    }
}

/* Goal: the server may answer before the end of the requests. Method: an OK with its reply after
 * the first bytes. */
static void test_answer_before_the_end_is_accepted(void **state)
{
    struct peer_script script = taking;
    struct peer *peer = NULL;
    struct sender sender;

    (void)state;
    script.early = true;
    script.early_bytes = 1;
    peer = peer_new(&script, 1);
    start(peer, &sender, SLICE("abc"), 2);
    sender.never_closes = true;
    peer_pump(peer);
    assert_over(&sender, CLIENT_CODE_OK);
    assert_int_equal(sender.replies, 1);
    assert_int_equal(peer->resets_by_client, 1);
    peer_free(peer);
}

/* Goal: a connection that is lost, a reset, a cancellation and a deadline each end an upload in the
 * middle, once. Method: one of each, with messages that wait. */
static void test_each_interruption_ends_the_upload_once(void **state)
{
    static const uint8_t bytes[MESSAGE_BYTES];
    struct peer_script script = {.silent = true, .stops_reading = true};
    struct peer *peer = peer_new(&script, WHOLE);
    struct sender sender;

    (void)state;
    start(peer, &sender, slice_of(bytes, sizeof(bytes)), 50);
    peer_pump(peer);
    client_session_fail(peer->session, CLIENT_CODE_UNAVAILABLE, "cut off");
    client_session_report(peer->session);
    assert_int_equal(sender.ends, 1);
    assert_int_equal(sender.status.code, CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(sender.send_at_end, ERR_CANCELLED);
    peer_free(peer);

    peer = peer_new(&script, WHOLE);
    start(peer, &sender, slice_of(bytes, sizeof(bytes)), 50);
    peer_pump(peer);
    client_session_end(peer->session, sender.call, CLIENT_CODE_CANCELLED, "enough");
    assert_int_equal(client_session_send(peer->session, sender.call, SLICE("x")), ERR_CANCELLED);
    assert_int_equal(sender.ends, 0);
    peer_pump(peer);
    assert_over(&sender, CLIENT_CODE_CANCELLED);
    assert_int_equal(peer->reset_by_client, NGHTTP2_CANCEL);
    start(peer, &sender, slice_of(bytes, sizeof(bytes)), 50);
    sender.cancels = true;
    peer_pump(peer);
    assert_over(&sender, CLIENT_CODE_CANCELLED);
    assert_int_equal(sender.rooms, 1);
    peer_free(peer);

    script = (struct peer_script){.early = true, .reset = NGHTTP2_ENHANCE_YOUR_CALM};
    peer = peer_new(&script, WHOLE);
    start(peer, &sender, slice_of(bytes, sizeof(bytes)), 50);
    peer_pump(peer);
    assert_over(&sender, CLIENT_CODE_RESOURCE_EXHAUSTED);
    peer_free(peer);
}

/* Goal: a deadline ends an upload that the caller does not continue. Method: a caller that never
 * half-closes; a simulated clock. */
static void test_deadline_ends_an_open_upload(void **state)
{
    struct peer *peer = peer_new(&taking, WHOLE);
    struct sender sender = {.peer = peer, .message = SLICE("x"), .left = 1, .never_closes = true};
    const struct client_handlers handlers = handlers_of(&sender);
    const struct client_session_call call = {
        .method = &uploading, .handlers = &handlers, .deadline_ms = 1000};

    (void)state;
    assert_int_equal(client_session_start(peer->session, &call, &sender.call), OK);
    peer_pump(peer);
    assert_int_equal(client_session_tick(peer->session, 999), 1000);
    assert_int_equal(client_session_tick(peer->session, 1000), 0);
    peer_pump(peer);
    assert_over(&sender, CLIENT_CODE_DEADLINE_EXCEEDED);
    peer_free(peer);
}

/* Goal: each message is compressed where that was requested. Method: two; their flags, and the
 * request's field. */
static void test_messages_are_compressed_if_requested(void **state)
{
    const struct client_options options = {.gzip = true};
    struct peer *peer = peer_new(&taking, WHOLE);
    struct sender sender = {.peer = peer, .message = SLICE("aaaaaaaaaaaaaaaaaaaaaaaaa"), .left = 2};
    const struct client_handlers handlers = handlers_of(&sender);
    const struct client_session_call call = {
        .method = &uploading, .handlers = &handlers, .options = &options};
    size_t size = 0;

    (void)state;
    assert_int_equal(client_session_start(peer->session, &call, &sender.call), OK);
    peer_pump(peer);
    assert_over(&sender, CLIENT_CODE_OK);
    assert_non_null(strstr(peer->request_fields, "grpc-encoding: gzip\n"));
    size = peer->request_bytes / 2;
    assert_int_equal(peer->request[0], 1);
    assert_int_equal(peer->request[4], size - 5);
    assert_memory_equal(peer->request, peer->request + size, size);
    peer_free(peer);
}

/* Goal: an upload has exactly one reply. Method: OK with none, and with two. */
static void test_reply_count_other_than_one_is_an_error(void **state)
{
    const struct slice bodies[] = {SLICE(""), SLICE("\0\0\0\0\2ok\0\0\0\0\2ok")};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct peer_script script = taking;
        struct peer *peer = NULL;
        struct sender sender;

        script.body = bodies[i];
        peer = peer_new(&script, 1);
        start(peer, &sender, SLICE("abc"), 1);
        peer_pump(peer);
        assert_over(&sender, CLIENT_CODE_UNIMPLEMENTED);
        assert_int_equal(sender.replies, i);
        peer_free(peer);
    }
}

/* Goal: an invalid message is refused without an effect on the call. Method: a request with the
 * start; a message over the limit; a message and a second end after the end; both of a unary
 * call. */
static void test_invalid_sends_are_refused(void **state)
{
    static const uint8_t large[PEER_BODY_BYTES_MAX + 1];
    struct peer *peer = peer_new(&taking, WHOLE);
    struct client_session *session = peer->session;
    struct sender sender;
    struct sender other = {.peer = peer};
    const struct client_handlers handlers = handlers_of(&other);
    struct client_session_call call = {
        .method = &uploading, .request = SLICE("x"), .handlers = &handlers};

    (void)state;
    assert_int_equal(client_session_start(session, &call, &other.call), ERR_INVALID);
    start(peer, &sender, SLICE("abc"), 0);
    assert_int_equal(client_session_send(session, sender.call, slice_of(large, sizeof(large))),
                     ERR_TOO_LARGE);
    assert_int_equal(client_session_send(session, sender.call, SLICE("abc")), OK);
    assert_int_equal(client_session_half_close(session, sender.call), OK);
    assert_int_equal(client_session_send(session, sender.call, SLICE("abc")), ERR_INVALID);
    assert_int_equal(client_session_half_close(session, sender.call), ERR_INVALID);
    peer_pump(peer);
    assert_over(&sender, CLIENT_CODE_OK);
    assert_int_equal(sender.rooms, 0); /* there is nothing left to send */
    assert_int_equal(peer->request_bytes, 8);
    peer->body_sent = 0;
    call.method = &unary;
    assert_int_equal(client_session_start(session, &call, &other.call), OK);
    assert_int_equal(client_session_send(session, other.call, SLICE("abc")), ERR_INVALID);
    assert_int_equal(client_session_half_close(session, other.call), ERR_INVALID);
    peer_pump(peer);
    assert_int_equal(other.ends, 1);
    assert_int_equal(other.rooms, 0);
    peer_free(peer);
}

int run_upload_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_arrive_in_order_with_one_reply),
        cmocka_unit_test(test_messages_to_a_stopped_peer_are_bounded),
        cmocka_unit_test(test_refusal_in_the_middle_ends_the_upload),
        cmocka_unit_test(test_answer_before_the_end_is_accepted),
        cmocka_unit_test(test_each_interruption_ends_the_upload_once),
        cmocka_unit_test(test_deadline_ends_an_open_upload),
        cmocka_unit_test(test_messages_are_compressed_if_requested),
        cmocka_unit_test(test_reply_count_other_than_one_is_an_error),
        cmocka_unit_test(test_invalid_sends_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
