/*
 * connection_test.c: a channel over real sockets on the loopback, against a peer that the test plays by
 * hand: what the network does to calls. What gRPC means is in session_test.c.
 */
#include "client/blocking.h"
#include "client/header.h"
#include "tests/unit/client/client_tests.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

static const struct method_info unary = {.path = SLICE("/test.Service/Unary"),
                                         .stream = METHOD_UNARY};

/* A socket that listens on a free port of 127.0.0.1. */
static int listen_somewhere(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    *ret_port = ntohs(address.sin_port);
    return listener;
}

/* One call to `host` at `port`, to its end. */
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

/* Goal: a port where nobody listens makes calls UNAVAILABLE, and says where.
 * Method: a port that was free a moment ago, by address and by name. */
static void nobody_there(void **state)
{
    uint16_t port = 0;
    int listener = listen_somewhere(&port);
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
static void deadline(void **state)
{
    uint16_t port = 0;
    int listener = listen_somewhere(&port);
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
    struct client_channel *close; /* closed at the end, unless NULL */
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
 * be closed from inside the callback that says so.
 * Method: accept, read the preface, close. */
static void cut_off(void **state)
{
    uint16_t port = 0;
    int listener = listen_somewhere(&port);
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

/* Goal: closing a channel ends its calls with CANCELLED, whatever state it is in, and a cancelled
 * call ends in a later turn.
 * Method: close at once, with the connection not yet made; then after a cancelled call. */
static void closing(void **state)
{
    uint16_t port = 0;
    int listener = listen_somewhere(&port);
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

/* Goal: a configuration that can't work is refused at once.
 * Method: no host, no port, a name that is too long. */
static void bad_configuration(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(nobody_there), cmocka_unit_test(deadline),
                                       cmocka_unit_test(cut_off), cmocka_unit_test(closing),
                                       cmocka_unit_test(bad_configuration)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
