/*
 * channel_loop_test.c: the channel over real sockets of the loopback: it reconnects, keeps no loop
 * running without need, and can be closed from anywhere. The channel's tests cover reconnection and
 * repeats in detail.
 */
#include "client/channel_loop.h"

#include "client/header.h"
#include "store/base/random.h"
#include "tests/unit/client/client_tests.h"
#include "tests/unit/client/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

static const struct method_info reading = {
    .path = SLICE("/test.Service/Read"), .stream = METHOD_UNARY, .transaction = METHOD_READ};

static const char *const grpc_headers[] = {":status", "200", "content-type", "application/grpc",
                                           NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};
#define ANSWERING                                                                                  \
    {                                                                                              \
        .headers = grpc_headers, .body = SLICE("\0\0\0\0\2ok"), .trailers = trailers_ok            \
    }

/* A channel, and the results of the calls on it. */
struct caller {
    uv_loop_t loop;
    struct client_channel *channel;
    unsigned replies;
    unsigned ends;
    uint32_t code;
    uint32_t attempts;
    char message[256];
    bool closes; /* the channel, when a call ends */
    bool starts; /* starts another call when one ends */
    unsigned closed;
};

static void start(struct caller *caller, int64_t timeout_ms);

static void on_reply(void *user, struct slice message)
{
    struct caller *caller = user;

    assert_true(slice_equal(message, SLICE("ok")));
    caller->replies++;
}

static void on_closed(void *user)
{
    struct caller *caller = user;

    caller->closed++;
}

static void on_end(void *user, const struct client_status *status)
{
    struct caller *caller = user;
    size_t size = status->message.size < sizeof(caller->message) - 1 ? status->message.size
                                                                     : sizeof(caller->message) - 1;

    caller->ends++;
    caller->code = status->code;
    caller->attempts = status->attempts;
    if (size > 0) {
        memcpy(caller->message, status->message.data, size);
    }
    caller->message[size] = '\0';
    if (caller->starts) {
        caller->starts = false;
        start(caller, 0);
    }
    if (caller->closes) {
        caller->closes = false;
        client_channel_loop_close(caller->channel, on_closed, caller);
    }
}

static void start(struct caller *caller, int64_t timeout_ms)
{
    const struct client_options options = {.timeout_ms = timeout_ms};
    const struct client_handlers handlers = {
        .user = caller, .on_reply = on_reply, .on_end = on_end};
    struct client_call *call = NULL;
    unsigned ends = caller->ends;

    assert_int_equal(
        client_call_start(caller->channel, &reading, SLICE("x"), &options, &handlers, &call), OK);
    assert_int_equal(caller->ends, ends);
}

static void open_channel(struct caller *caller, struct client_channel_loop_config config)
{
    memset(caller, 0, sizeof(*caller));
    config.connection.host = "127.0.0.1";
    config.retry.backoff_initial_ms = 2;
    config.retry.backoff_max_ms = 5;
    assert_int_equal(uv_loop_init(&caller->loop), 0);
    assert_int_equal(client_channel_loop_open(&caller->loop, &config, &caller->channel), OK);
}

static struct client_channel_statistics statistics(const struct caller *caller)
{
    struct client_channel_statistics now;

    client_channel_loop_read_statistics(caller->channel, &now);
    return now;
}

/* Ends the test after the channel was closed. */
static void end(struct caller *caller)
{
    (void)uv_run(&caller->loop, UV_RUN_DEFAULT);
    assert_int_equal(caller->closed, 1);
    assert_int_equal(uv_loop_close(&caller->loop), 0);
}

static void close_channel(struct caller *caller)
{
    client_channel_loop_close(caller->channel, on_closed, caller);
    assert_int_equal(caller->closed, 0);
    end(caller);
}

/* Goal: a call outlives its connection, for any reason why that is lost. Method: servers that hang
 * up on the request, that freeze, and then one that answers. */
static void test_call_outlives_lost_connections(void **state)
{
    static const struct peer_script scripts[] = {{.silent = true, .trouble = PEER_HANGS_UP},
                                                 {.silent = true, .trouble = PEER_FREEZES},
                                                 ANSWERING};
    struct caller caller;
    struct server server;

    (void)state;
    server_start(&server, scripts, 3);
    open_channel(
        &caller,
        (struct client_channel_loop_config){
            .connection = {.port = server.port, .keepalive_ms = 20, .keepalive_timeout_ms = 20}});
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(caller.ends, 1);
    assert_int_equal(caller.code, CLIENT_CODE_OK);
    assert_int_equal(caller.replies, 1);
    assert_int_equal(caller.attempts, 3);
    assert_int_equal(statistics(&caller).connections, 3);
    assert_int_equal(statistics(&caller).connections_lost, 2);
    close_channel(&caller);
    server_stop(&server);
}

/* Goal: the loop ends by itself once no call is under way, and a call later finds the same connection;
 * a call that is started as another ends keeps it going.
 * Method: one call, one more that starts another, all by one connection. */
static void test_idle_channel_does_not_keep_the_loop(void **state)
{
    static const struct peer_script answering = ANSWERING;
    struct caller caller;
    struct server server;

    (void)state;
    server_start(&server, &answering, 1);
    open_channel(&caller, (struct client_channel_loop_config){.connection = {.port = server.port}});
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(statistics(&caller).state, CLIENT_CHANNEL_IDLE);
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(caller.replies, 1);
    caller.starts = true;
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(caller.replies, 3);
    assert_int_equal(statistics(&caller).connections, 1);
    assert_int_equal(statistics(&caller).state, CLIENT_CHANNEL_READY);
    close_channel(&caller);
    server_stop(&server);
}

/* Goal: a connection that the server closes while the loop stops is noticed by the next call, which
 * is repeated on another. Method: two calls, with the first connection closed between them. */
static void test_call_after_an_unnoticed_loss_is_repeated(void **state)
{
    static const struct peer_script scripts[] = {ANSWERING, ANSWERING};
    struct caller caller;
    struct server server;

    (void)state;
    server_start(&server, scripts, 2);
    open_channel(&caller, (struct client_channel_loop_config){.connection = {.port = server.port}});
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(shutdown(atomic_load(&server.connection), SHUT_RDWR), 0);
    while (atomic_load(&server.served) == 0) {
        (void)usleep(1000);
    }
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(caller.ends, 2);
    assert_int_equal(caller.code, CLIENT_CODE_OK);
    assert_int_equal(statistics(&caller).connections, 2);
    close_channel(&caller);
    server_stop(&server);
}

/* Goal: a call reports the reason if there is no server, and ends at its deadline if a server only
 * accepts. Method: a port without a listener; one whose connections are not accepted. */
static void test_missing_server_is_reported_with_the_reason(void **state)
{
    struct client_channel_loop_config config = {.retry = {.attempts_max = 3}};
    int listener = server_listen(&config.connection.port);
    struct caller caller;

    (void)state;
    open_channel(&caller, config);
    start(&caller, 40);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(caller.ends, 1);
    assert_int_equal(caller.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_int_equal(caller.attempts, 0);
    close_channel(&caller);
    assert_int_equal(close(listener), 0);

    open_channel(&caller, config);
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(caller.code, CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(caller.attempts, 0);
    assert_non_null(strstr(caller.message, "cannot connect to 127.0.0.1:"));
    assert_int_equal(statistics(&caller).connect_failures, 3);
    close_channel(&caller);
}

/* Goal: a channel can be closed in any state and from a callback; its calls end once, with CANCELLED,
 * and then it is freed. Method: closed before its first turn, while it connects, from the end of the
 * first of two calls. */
static void test_channel_closes_in_any_state(void **state)
{
    struct client_channel_loop_config config = {.call_timeout_ms = -1};
    int listener = server_listen(&config.connection.port);
    struct caller caller;

    (void)state;
    for (unsigned turns = 0; turns < 4; turns++) {
        open_channel(&caller, config);
        start(&caller, 0);
        for (unsigned turn = 0; turn < turns; turn++) {
            (void)uv_run(&caller.loop, UV_RUN_NOWAIT);
        }
        close_channel(&caller);
        assert_int_equal(caller.ends, 1);
        assert_int_equal(caller.code, CLIENT_CODE_CANCELLED);
    }
    open_channel(&caller, config);
    caller.closes = true;
    start(&caller, 0);
    start(&caller, 5);
    end(&caller);
    assert_int_equal(caller.ends, 2);
    assert_int_equal(close(listener), 0);
}

/* Goal: a pending look-up of a name does not delay the end of a call. Method: closed at once, with
 * a call by a name that no one has (RFC 2606). */
static void test_name_lookup_does_not_delay_the_end(void **state)
{
    const struct client_channel_loop_config config = {
        .connection = {.host = "unknown.invalid", .port = 1}};
    struct caller caller = {.closed = 0};

    (void)state;
    assert_int_equal(uv_loop_init(&caller.loop), 0);
    assert_int_equal(client_channel_loop_open(&caller.loop, &config, &caller.channel), OK);
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_NOWAIT);
    client_channel_loop_close(caller.channel, on_closed, &caller);
    (void)uv_run(&caller.loop, UV_RUN_NOWAIT);
    assert_int_equal(caller.ends, 1);
    end(&caller);
}

/* Goal: later calls use a new token, on the open connection and on the next one. Method: changed
 * between two calls, and again while there is no connection. */
static void test_new_token_is_used_by_later_calls(void **state)
{
    static const struct peer_script scripts[] = {ANSWERING, ANSWERING};
    struct caller caller;
    struct server server;

    (void)state;
    server_start(&server, scripts, 1);
    open_channel(&caller, (struct client_channel_loop_config){
                              .connection = {.port = server.port, .token = SLICE("first")}});
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    assert_int_equal(client_channel_loop_set_token(caller.channel, SLICE("second")), OK);
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    close_channel(&caller);
    server_stop(&server);
    assert_non_null(strstr(server.request_fields, "authorization: Bearer first\n"));
    assert_non_null(strstr(server.request_fields, "authorization: Bearer second\n"));

    server_start(&server, scripts, 1);
    open_channel(&caller, (struct client_channel_loop_config){
                              .connection = {.port = server.port, .token = SLICE("first")}});
    assert_int_equal(client_channel_loop_set_token(caller.channel, SLICE("third")), OK);
    start(&caller, 0);
    (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
    close_channel(&caller);
    server_stop(&server);
    assert_non_null(strstr(server.request_fields, "authorization: Bearer third\n"));
}

/* Position of the random part of an idempotency key, a UUID of version 7: after the time. */
#define KEY_DRAWN_AT 19
#define KEY_DRAWN_BYTES 17

static void on_write_end(void *user, const struct client_status *status)
{
    char *key = user;

    if (status->idempotency_key.size == KEY_DRAWN_AT + KEY_DRAWN_BYTES) {
        memcpy(key, status->idempotency_key.data + KEY_DRAWN_AT, KEY_DRAWN_BYTES);
    }
}

/* Returns the random part of the key of the first write in a child process; no server is needed. */
static void draw_in_child(uint16_t port, char ret_drawn[KEY_DRAWN_BYTES])
{
    static const struct method_info writing = {
        .path = SLICE("/test.Service/Write"), .stream = METHOD_UNARY, .transaction = METHOD_WRITE};
    const struct client_options options = {.no_retry = true};
    const struct client_handlers handlers = {.user = ret_drawn, .on_end = on_write_end};
    struct client_call *call = NULL;
    struct caller caller;
    int ends[2];
    int status = 0;
    pid_t child = 0;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        memset(ret_drawn, 0, KEY_DRAWN_BYTES);
        open_channel(&caller, (struct client_channel_loop_config){.connection = {.port = port}});
        if (client_call_start(caller.channel, &writing, SLICE("x"), &options, &handlers, &call) ==
            OK) {
            (void)uv_run(&caller.loop, UV_RUN_DEFAULT);
        }
        _exit(write(ends[1], ret_drawn, KEY_DRAWN_BYTES) == KEY_DRAWN_BYTES ? 0 : 1);
    }
    assert_int_equal(read(ends[0], ret_drawn, KEY_DRAWN_BYTES), KEY_DRAWN_BYTES);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
}

/* Goal: processes that forked apart give their writes different keys: the server takes two writes with
 * one key as one, so that the second would be lost.
 * Method: a process that has drawn before forks twice, and each child writes. */
static void test_forked_processes_share_no_key(void **state)
{
    static const char none[KEY_DRAWN_BYTES] = {0};
    char first[KEY_DRAWN_BYTES];
    char second[KEY_DRAWN_BYTES];
    uint16_t port = 0;
    uint64_t word = 0;

    (void)state;
    assert_int_equal(close(server_listen(&port)), 0);
    random_fill(random_system(), &word, sizeof(word));
    draw_in_child(port, first);
    draw_in_child(port, second);
    assert_memory_not_equal(first, none, sizeof(none));
    assert_memory_not_equal(first, second, sizeof(first));
}

int run_channel_loop_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_outlives_lost_connections),
        cmocka_unit_test(test_idle_channel_does_not_keep_the_loop),
        cmocka_unit_test(test_call_after_an_unnoticed_loss_is_repeated),
        cmocka_unit_test(test_missing_server_is_reported_with_the_reason),
        cmocka_unit_test(test_channel_closes_in_any_state),
        cmocka_unit_test(test_name_lookup_does_not_delay_the_end),
        cmocka_unit_test(test_new_token_is_used_by_later_calls),
        cmocka_unit_test(test_forked_processes_share_no_key)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
