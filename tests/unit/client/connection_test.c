/*
 * connection_test.c: a channel over real sockets on the loopback, against a peer that the test
 * simulates: the effects of the network on calls. session_test.c tests the rules of gRPC.
 */
#include "client/blocking.h"
#include "client/header.h"
#include "tests/unit/client/client_tests.h"
#include "tests/unit/client/server.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

/* More bytes than the socket buffers of both sides hold. */
#define STUCK_BYTES ((size_t)32 * 1024 * 1024)

static const struct method_info unary = {.path = SLICE("/test.Service/Unary"),
                                         .stream = METHOD_UNARY};

/* Makes one call to `host` at `port`. */
static struct client_status call_once(const char *host, uint16_t port, int64_t timeout_ms,
                                      struct arena *arena)
{
    const struct client_channel_loop_config config = {
        .connection = {.host = host, .port = port},
        .retry = {.attempts_max = 3, .backoff_initial_ms = 1, .backoff_max_ms = 5}};
    const struct client_options options = {.timeout_ms = timeout_ms};
    const struct client_request request = {.method = &unary, .options = &options};
    struct client_blocking *client = NULL;
    struct client_result result;

    memset(&result, 0, sizeof(result));
    assert_int_equal(client_blocking_open(&config, &client), OK);
    assert_int_equal(client_call_blocking(client, &request, arena, &result), OK);
    client_blocking_close(client);
    return result.status;
}

/* Goal: a port without a listener ends calls with UNAVAILABLE, and the message names the address.
 * Method: a port that was free a moment ago, by address and by name. */
static void test_port_without_a_listener_is_unavailable(void **state)
{
    uint16_t port = 0;
    int listener = server_listen(&port);
    struct client_status status;
    struct arena arena;

    (void)state;
    assert_int_equal(close(listener), 0);
    arena_init(&arena, 1 << 20);
    status = call_once("127.0.0.1", port, 0, &arena);
    assert_int_equal(status.code, CLIENT_CODE_UNAVAILABLE);
    assert_false(status.from_server);
    assert_true(slice_starts_with(status.message, SLICE("cannot connect to 127.0.0.1:")));
    status = call_once("localhost", port, 0, &arena);
    assert_int_equal(status.code, CLIENT_CODE_UNAVAILABLE);
    arena_deinit(&arena);
}

/* Goal: a server that never answers costs a call its deadline, no more.
 * Method: a listener that accepts nothing. */
static void test_silent_server_costs_only_the_deadline(void **state)
{
    uint16_t port = 0;
    int listener = server_listen(&port);
    struct client_status status;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    status = call_once("127.0.0.1", port, 50, &arena);
    assert_int_equal(status.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_false(status.from_server);
    assert_int_equal(close(listener), 0);
    arena_deinit(&arena);
}

struct ending {
    unsigned ends;
    uint32_t code;
    char message[256];
    struct client_channel *close; /* channel to close at the end, or NULL */
    unsigned closed;
};

static void on_reply(void *user, struct slice message)
{
    (void)user;
    (void)message;
}

static void on_closed(void *user)
{
    struct ending *ending = user;

    ending->closed++;
}

static void on_end(void *user, const struct client_status *status)
{
    struct ending *ending = user;
    size_t size = status->message.size < 255 ? status->message.size : 255;

    ending->ends++;
    ending->code = status->code;
    memcpy(ending->message, status->message.data, size);
    ending->message[size] = '\0';
    if (ending->close != NULL) {
        client_connection_close(ending->close, on_closed, ending);
    }
}

static struct client_channel *open_channel(uv_loop_t *loop, uint16_t port)
{
    const struct client_connection_config config = {.host = "127.0.0.1", .port = port};
    struct client_channel *channel = NULL;

    assert_int_equal(uv_loop_init(loop), 0);
    assert_int_equal(client_connection_open(loop, &config, &channel), OK);
    return channel;
}

static struct client_call *start(struct client_channel *channel, struct ending *ending)
{
    const struct client_handlers handlers = {
        .user = ending, .on_reply = on_reply, .on_end = on_end};
    struct client_call *call = NULL;

    assert_int_equal(channel->ops->start(channel, &unary, SLICE("x"), NULL, &handlers, &call), OK);
    return call;
}

/* Goal: a connection that the server cuts ends the calls on it, later calls too, and a channel may
 * be closed from inside the callback that reports it.
 * Method: accept, read the preface, close. */
static void test_cut_connection_ends_its_calls(void **state)
{
    uint16_t port = 0;
    int listener = server_listen(&port);
    struct ending ending = {.ends = 0};
    struct ending late = {.ends = 0};
    struct client_channel *channel = NULL;
    uv_loop_t loop;
    char bytes[24];
    int peer = 0;

    (void)state;
    channel = open_channel(&loop, port);
    (void)start(channel, &ending);
    peer = accept(listener, NULL, NULL);
    assert_true(peer >= 0);
    for (unsigned turn = 0; turn < 3; turn++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(recv(peer, bytes, sizeof(bytes), MSG_WAITALL), sizeof(bytes));
    assert_memory_equal(bytes, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", sizeof(bytes));
    assert_int_equal(close(peer), 0);
    while (ending.ends == 0) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    assert_int_equal(ending.code, CLIENT_CODE_UNAVAILABLE);
    assert_non_null(strstr(ending.message, "lost the connection to 127.0.0.1:"));
    assert_true(client_connection_is_closing(channel));
    late.close = channel;
    (void)start(channel, &late);
    assert_int_equal(late.ends, 0);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(late.ends, 1);
    assert_int_equal(late.code, CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(late.closed, 1);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(close(listener), 0);
}

/* Goal: closing a channel ends its calls with CANCELLED in any state, and a cancelled call ends in
 * a later turn. Method: close at once, before the connection is made; then after a cancelled
 * call. */
static void test_closing_cancels_calls_in_any_state(void **state)
{
    uint16_t port = 0;
    int listener = server_listen(&port);
    struct ending ending = {.ends = 0};
    struct client_channel *channel = NULL;
    struct client_call *call = NULL;
    uv_loop_t loop;

    (void)state;
    channel = open_channel(&loop, port);
    (void)start(channel, &ending);
    client_connection_close(channel, on_closed, &ending);
    assert_int_equal(ending.ends, 0);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(ending.ends, 1);
    assert_int_equal(ending.code, CLIENT_CODE_CANCELLED);
    assert_int_equal(ending.closed, 1);
    assert_int_equal(uv_loop_close(&loop), 0);

    memset(&ending, 0, sizeof(ending));
    channel = open_channel(&loop, port);
    call = start(channel, &ending);
    channel->ops->cancel(channel, call);
    assert_int_equal(ending.ends, 0);
    ending.close = channel;
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(ending.ends, 1);
    assert_int_equal(ending.code, CLIENT_CODE_CANCELLED);
    assert_int_equal(ending.closed, 1);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(close(listener), 0);
}

/* --- events of a connection --- */

static const char *const grpc_headers[] = {":status", "200", "content-type", "application/grpc",
                                           NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};

/* Reported events, a letter each, and the call's result. */
struct reported {
    char moves[16]; /* R ready, D draining, L lost, E end of the call, in order */
    char reason[256]; /* reason of L */
    unsigned inside; /* nesting of calls of the connection's functions */
    uint32_t code;
    bool unseen;
    bool closes; /* closes the connection at L */
    bool closed;
};

static void report(struct reported *reported, char move)
{
    size_t count = strlen(reported->moves);

    assert_int_equal(reported->inside, 0);
    assert_true(count < sizeof(reported->moves) - 1);
    reported->moves[count] = move;
}

static void on_notified_closed(void *user)
{
    struct reported *reported = user;

    reported->closed = true;
}

static void on_state(void *user, struct client_channel *connection,
                     enum client_connection_state state, struct slice reason)
{
    static const char letters[] = {'R', 'D', 'L'};
    struct reported *reported = user;

    report(reported, letters[state]);
    assert_int_equal(reason.size > 0, state == CLIENT_CONNECTION_LOST);
    if (state == CLIENT_CONNECTION_LOST) {
        memcpy(reported->reason, reason.data, reason.size);
        if (reported->closes) {
            client_connection_close(connection, on_notified_closed, reported);
        }
    }
}

static void on_reported_end(void *user, const struct client_status *status)
{
    struct reported *reported = user;

    report(reported, 'E');
    reported->code = status->code;
    reported->unseen = status->unseen;
}

static struct client_channel *
open_notified(uv_loop_t *loop, struct client_connection_config *config, struct reported *reported)
{
    struct client_channel *connection = NULL;

    memset(reported, 0, sizeof(*reported));
    config->host = "127.0.0.1";
    config->listener = (struct client_connection_listener){reported, on_state};
    assert_int_equal(uv_loop_init(loop), 0);
    reported->inside++;
    assert_int_equal(client_connection_open(loop, config, &connection), OK);
    reported->inside--;
    return connection;
}

static void start_notified(struct client_channel *connection, struct reported *reported)
{
    const struct client_handlers handlers = {
        .user = reported, .on_reply = on_reply, .on_end = on_reported_end};
    struct client_call *call = NULL;

    reported->inside++;
    assert_int_equal(client_call_start(connection, &unary, SLICE("x"), NULL, &handlers, &call), OK);
    reported->inside--;
}

static void close_notified(uv_loop_t *loop, struct client_channel *connection,
                           struct reported *reported)
{
    if (!reported->closes) {
        client_connection_close(connection, on_notified_closed, reported);
    }
    (void)uv_run(loop, UV_RUN_DEFAULT);
    assert_true(reported->closed);
    assert_int_equal(uv_loop_close(loop), 0);
}

/* Goal: ready, draining and lost are reported once each, in this order, and never from inside a
 * function. Method: a server that answers and leaves; the connection is closed from inside the last
 * event. */
static void test_ready_draining_and_lost_are_reported_in_order(void **state)
{
    const struct peer_script leaving = {.headers = grpc_headers,
                                        .body = SLICE("\0\0\0\0\1x"),
                                        .trailers = trailers_ok,
                                        .leaves = true};
    struct client_channel *connection = NULL;
    struct client_connection_config config = {.host = NULL};
    struct server server;
    struct reported reported;
    uv_loop_t loop;
    char moves[sizeof(reported.moves)] = {0};
    size_t kept = 0;

    (void)state;
    server_start(&server, &leaving, 1);
    config.port = server.port;
    connection = open_notified(&loop, &config, &reported);
    reported.closes = true;
    start_notified(connection, &reported);
    while (!reported.closed) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    close_notified(&loop, connection, &reported);
    server_stop(&server);
    for (size_t i = 0; i < strlen(reported.moves); i++) {
        if (reported.moves[i] != 'E') {
            moves[kept++] = reported.moves[i];
        }
    }
    assert_string_equal(moves, "RDL");
    assert_int_equal(strlen(reported.moves), 4);
    assert_int_equal(reported.code, CLIENT_CODE_OK);
}

/* Runs a connection with one call until it is lost; `config` has its port. */
static void run_until_lost(struct client_connection_config *config, struct reported *reported)
{
    struct client_channel *connection = NULL;
    uv_loop_t loop;

    connection = open_notified(&loop, config, reported);
    start_notified(connection, reported);
    while (strlen(reported->moves) == 0 || reported->moves[strlen(reported->moves) - 1] != 'E') {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    close_notified(&loop, connection, reported);
}

/* Goal: the reason for a failed connection is reported before the end of its calls, which the
 * server has not seen; and a port that accepts connections but sends nothing, or nonsense, is never
 * ready. Method: a port without a listener, one whose connections are not accepted, one that speaks
 * HTTP/1. */
static void test_failed_connection_is_never_ready(void **state)
{
    struct client_connection_config config = {.connect_timeout_ms = 30};
    struct reported reported;
    uint16_t port = 0;
    int listener = server_listen(&port);
    int speaker = -1;

    (void)state;
    config.port = port;
    run_until_lost(&config, &reported);
    assert_string_equal(reported.moves, "LE");
    assert_non_null(
        strstr(reported.reason, "the server accepted the connection but sent no HTTP/2 settings"));
    assert_int_equal(reported.code, CLIENT_CODE_UNAVAILABLE);
    assert_true(reported.unseen);
    assert_int_equal(close(listener), 0);
    run_until_lost(&config, &reported);
    assert_string_equal(reported.moves, "LE");
    assert_non_null(strstr(reported.reason, "cannot connect to 127.0.0.1:"));
    assert_non_null(strstr(reported.reason, "refused"));
    assert_true(reported.unseen);

    listener = server_listen(&config.port);
    config.connect_timeout_ms = 5000;
    {
        uv_loop_t loop;
        struct client_channel *connection = open_notified(&loop, &config, &reported);

        start_notified(connection, &reported);
        speaker = accept(listener, NULL, NULL);
        assert_int_equal(send(speaker, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, 0), 28);
        while (strlen(reported.moves) < 2) {
            (void)uv_run(&loop, UV_RUN_ONCE);
        }
        close_notified(&loop, connection, &reported);
    }
    assert_string_equal(reported.moves, "LE");
    assert_non_null(strstr(reported.reason, "its bytes are not HTTP/2"));
    assert_true(reported.unseen);
    assert_int_equal(close(speaker), 0);
    assert_int_equal(close(listener), 0);
}

/* Goal: a server that stops responding is detected, and its call counts as seen. Method: one that
 * reads a request and then neither reads nor writes. */
static void test_frozen_server_is_detected(void **state)
{
    const struct peer_script freezing = {.silent = true, .trouble = PEER_FREEZES};
    struct client_connection_config config = {.keepalive_ms = 30, .keepalive_timeout_ms = 30};
    struct server server;
    struct reported reported;

    (void)state;
    server_start(&server, &freezing, 1);
    config.port = server.port;
    run_until_lost(&config, &reported);
    server_stop(&server);
    assert_string_equal(reported.moves, "RLE");
    assert_non_null(strstr(reported.reason, "the server does not answer"));
    assert_false(reported.unseen);
}

/* Goal: without a call the connection stays open but does not keep the loop alive. Method: before,
 * between and after two calls the loop ends by itself. */
static void test_idle_connection_does_not_keep_the_loop(void **state)
{
    const struct peer_script answering = {
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\1x"), .trailers = trailers_ok};
    struct client_connection_config config = {.host = NULL};
    struct client_channel *connection = NULL;
    struct server server;
    struct reported reported;
    uv_loop_t loop;

    (void)state;
    server_start(&server, &answering, 1);
    config.port = server.port;
    connection = open_notified(&loop, &config, &reported);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    start_notified(connection, &reported);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(reported.moves, "RE");
    start_notified(connection, &reported);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(reported.moves, "REE");
    assert_int_equal(reported.code, CLIENT_CODE_OK);
    close_notified(&loop, connection, &reported);
    server_stop(&server);
}

/* Goal: a connection that cannot be made does not keep the loop alive. Method: a listener whose
 * queue is full, so that the kernel drops connections. */
static void test_unmade_connection_does_not_keep_the_loop(void **state)
{
    struct client_connection_config config = {.host = NULL};
    struct client_channel *connection = NULL;
    struct client_call *call = NULL;
    int crowd[3];
    int listener = server_listen(&config.port);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct reported reported;
    uv_loop_t loop;
    uint64_t before_ms = 0;

    (void)state;
    assert_int_equal(listen(listener, 0), 0);
    address.sin_port = htons(config.port);
    for (size_t i = 0; i < sizeof(crowd) / sizeof(crowd[0]); i++) {
        crowd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(crowd[i], (struct sockaddr *)&address, sizeof(address));
    }
    connection = open_notified(&loop, &config, &reported);
    before_ms = uv_now(&loop);
    assert_int_equal(
        client_call_start(
            connection, &unary, SLICE("x"), &(const struct client_options){.timeout_ms = 20},
            &(const struct client_handlers){&reported, on_reply, on_reported_end, NULL}, &call),
        OK);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(reported.moves, "E");
    assert_int_equal(reported.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_true(uv_now(&loop) - before_ms < CLIENT_CONNECT_TIMEOUT_MS / 2);
    close_notified(&loop, connection, &reported);
    for (size_t i = 0; i < sizeof(crowd) / sizeof(crowd[0]); i++) {
        assert_int_equal(close(crowd[i]), 0);
    }
    assert_int_equal(close(listener), 0);
}

/* Goal: a program that does not run its loop for a while does not report the server as
 * unresponsive. Method: the loop stops during the connection attempt, for longer than its limit. */
static void test_stopped_loop_does_not_fail_a_connection(void **state)
{
    const struct peer_script silent = {.silent = true};
    struct client_connection_config config = {.connect_timeout_ms = 100};
    struct client_channel *connection = NULL;
    struct server server;
    struct reported reported;
    uv_loop_t loop;

    (void)state;
    server_start(&server, &silent, 1);
    config.port = server.port;
    connection = open_notified(&loop, &config, &reported);
    assert_int_equal(usleep(250000), 0);
    start_notified(connection, &reported);
    while (strlen(reported.moves) == 0) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    assert_string_equal(reported.moves, "R");
    close_notified(&loop, connection, &reported);
    server_stop(&server);
}

/* Goal: a call that starts after the server closed the connection while the loop was stopped is not
 * sent. Method: the server hangs up between two turns, and the call starts between them too. */
static void test_call_after_the_server_has_gone_is_not_sent(void **state)
{
    const struct peer_script answering = {
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\1x"), .trailers = trailers_ok};
    struct client_connection_config config = {.host = NULL};
    struct client_channel *connection = NULL;
    struct server server;
    struct reported reported;
    uv_loop_t loop;

    (void)state;
    server_start(&server, &answering, 1);
    config.port = server.port;
    connection = open_notified(&loop, &config, &reported);
    start_notified(connection, &reported);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(shutdown(atomic_load(&server.connection), SHUT_RDWR), 0);
    start_notified(connection, &reported);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(reported.moves, "RELE");
    assert_int_equal(reported.code, CLIENT_CODE_UNAVAILABLE);
    assert_true(reported.unseen);
    close_notified(&loop, connection, &reported);
    server_stop(&server);
}

static void on_room(void *user)
{
    (void)user;
}

/* Goal: unread bytes of a cancelled call keep the loop alive only for a bounded time. Method: an
 * upload that is larger than all buffers, to a server that freezes; it is cancelled. */
static void test_unread_bytes_do_not_keep_the_loop(void **state)
{
    static const struct method_info uploading = {.path = SLICE("/test.Service/Upload"),
                                                 .stream = METHOD_CLIENT_STREAM};
    const struct peer_script freezing = {
        .silent = true, .trouble = PEER_FREEZES, .window_bytes = STUCK_BYTES * 2};
    struct client_connection_config config = {.host = NULL};
    uint8_t *content = calloc(1, STUCK_BYTES);
    struct client_channel *connection = NULL;
    struct client_call *call = NULL;
    struct server server;
    struct reported reported;
    uv_loop_t loop;

    (void)state;
    assert_non_null(content);
    server_start(&server, &freezing, 1);
    config.port = server.port;
    connection = open_notified(&loop, &config, &reported);
    reported.closes = true;
    assert_int_equal(client_call_start(connection, &uploading, SLICE(""), NULL,
                                       &(const struct client_handlers){&reported, on_reply,
                                                                       on_reported_end, on_room},
                                       &call),
                     OK);
    assert_int_equal(client_call_send(connection, call, slice_of(content, STUCK_BYTES)), OK);
    while (strlen(reported.moves) < 1) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    for (unsigned turn = 0; turn < 100; turn++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
    client_call_cancel(connection, call);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(reported.moves, "REL");
    assert_non_null(strstr(reported.reason, "the server does not read"));
    close_notified(&loop, connection, &reported);
    /* Unread bytes precede the end of the connection. */
    assert_int_equal(shutdown(atomic_load(&server.connection), SHUT_RDWR), 0);
    server_stop(&server);
    free(content);
}

/* Goal: a configuration that cannot work is refused at once.
 * Method: no host, no port, a name that is too long. */
static void test_invalid_configuration_is_refused(void **state)
{
    char name[CLIENT_HOST_BYTES_MAX + 2];
    struct client_channel_loop_config config = {.connection = {.host = "", .port = 1}};
    struct client_blocking *client = NULL;

    (void)state;
    assert_int_equal(client_blocking_open(&config, &client), ERR_INVALID);
    config.connection = (struct client_connection_config){.host = "localhost", .port = 0};
    assert_int_equal(client_blocking_open(&config, &client), ERR_INVALID);
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    config.connection = (struct client_connection_config){.host = name, .port = 1};
    assert_int_equal(client_blocking_open(&config, &client), ERR_INVALID);
}

int run_connection_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_port_without_a_listener_is_unavailable),
        cmocka_unit_test(test_silent_server_costs_only_the_deadline),
        cmocka_unit_test(test_cut_connection_ends_its_calls),
        cmocka_unit_test(test_closing_cancels_calls_in_any_state),
        cmocka_unit_test(test_ready_draining_and_lost_are_reported_in_order),
        cmocka_unit_test(test_failed_connection_is_never_ready),
        cmocka_unit_test(test_frozen_server_is_detected),
        cmocka_unit_test(test_idle_connection_does_not_keep_the_loop),
        cmocka_unit_test(test_unmade_connection_does_not_keep_the_loop),
        cmocka_unit_test(test_stopped_loop_does_not_fail_a_connection),
        cmocka_unit_test(test_call_after_the_server_has_gone_is_not_sent),
        cmocka_unit_test(test_unread_bytes_do_not_keep_the_loop),
        cmocka_unit_test(test_invalid_configuration_is_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
