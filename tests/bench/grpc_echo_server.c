/*
 * grpc_echo_server.c: only the transport, for a comparison with the floor program: every call of any
 * path is answered with the same N bytes, through only the net, HTTP/2 and gRPC code of the server.
 * Prints the address that it listens on.
 *
 *   bench_echo PORT BYTES
 */
#include "server/grpc/grpc.h"
#include "server/net/server.h"
#include "store/base/assert.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define ECHO_BYTES_MAX (8u << 20)
#define ECHO_DRAIN_MS 1000
/* Room for one message. */
#define ECHO_FAULT_BYTES 4096

struct echo {
    struct call_handlers handlers;
    struct slice reply;
    struct call_server *calls;
    struct grpc_server *grpc;
    struct net_server *net;
    uv_signal_t signals[2];
};

static const struct method_info echo_method = {.path = {(const uint8_t *)"/any", 4}};

static const struct method_info *echo_find_method(struct slice path)
{
    (void)path;
    return &echo_method;
}

static void echo_on_start(void *user, struct call *call)
{
    (void)user;
    (void)call;
}

static void echo_on_message(void *user, struct call *call, struct slice message)
{
    const struct echo *echo = user;
    struct status status = {.code = STATUS_OK};

    (void)message;
    buffer_append(call_reply_begin(call, echo->reply.size), echo->reply);
    if (call_reply_end(call) != OK) {
        status = (struct status){.code = STATUS_INTERNAL, .message = SLICE("no memory")};
    }
    call_finish(call, &status);
}

static void echo_on_cancel(void *user, struct call *call, enum err why)
{
    const struct status status = {.code = STATUS_CANCELLED};

    (void)user;
    (void)why;
    call_finish(call, &status);
}

static const struct call_handlers echo_handlers = {
    .on_start = echo_on_start,
    .on_message = echo_on_message,
    .on_half_close = echo_on_start,
    .on_writable = echo_on_start,
    .on_cancel = echo_on_cancel,
};

static void echo_on_tick(void *user, int64_t now_us)
{
    struct echo *echo = user;

    call_server_tick(echo->calls, now_us);
}

static void echo_on_closed(void *user)
{
    struct echo *echo = user;

    net_server_free(echo->net);
    grpc_server_free(echo->grpc);
    call_server_free(echo->calls);
}

static void echo_on_drained(void *user)
{
    struct echo *echo = user;

    net_server_close(echo->net, echo_on_closed, echo);
}

static void echo_on_signal(uv_signal_t *handle, int number)
{
    struct echo *echo = handle->data;

    (void)number;
    for (int i = 0; i < 2; i++) {
        uv_close((uv_handle_t *)&echo->signals[i], NULL);
    }
    net_server_drain(echo->net, ECHO_DRAIN_MS, echo_on_drained, echo);
}

static void echo_watch(struct echo *echo, uv_loop_t *loop, int which, int number)
{
    uv_signal_t *handle = &echo->signals[which];

    ASSERT(uv_signal_init(loop, handle) == 0);
    handle->data = echo;
    ASSERT(uv_signal_start(handle, echo_on_signal, number) == 0);
}

static enum err echo_listen(struct echo *echo, uv_loop_t *loop, uint16_t port)
{
    struct call_config calls = call_config_default(&echo->handlers);
    struct net_protocol protocol;
    struct net_config net = {.clock = clock_system(),
                             .connections_max = NET_CONNECTIONS_MAX,
                             .protocols = &protocol,
                             .protocol_count = 1,
                             .on_tick = echo_on_tick,
                             .user = echo};
    struct net_bound bound;
    struct arena arena;
    struct fault fault;
    enum err err = OK;

    echo->handlers = echo_handlers;
    echo->handlers.user = echo;
    calls.find_method = echo_find_method;
    err = call_server_new(&calls, clock_monotonic_us(clock_system()), &echo->calls);
    if (err != OK) {
        return err;
    }
    err = grpc_server_new(echo->calls, NULL, &echo->grpc);
    if (err != OK) {
        return err;
    }
    protocol = grpc_server_protocol(echo->grpc);
    err = net_server_new(loop, &net, &echo->net);
    if (err == OK) {
        arena_init(&arena, ECHO_FAULT_BYTES);
        fault_init(&fault, &arena);
        err = net_bind("127.0.0.1", port, &fault, &bound);
        if (err == OK) {
            err = net_server_listen(echo->net, &bound, &fault);
        }
        arena_deinit(&arena);
    }
    if (err == OK) {
        printf("%s\n", bound.address);
        (void)fflush(stdout);
    }
    return err;
}

int main(int argc, char **argv)
{
    static struct echo echo;
    unsigned long port = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long size = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    uint8_t *bytes = NULL;

    if (argc != 3 || port > UINT16_MAX || size > ECHO_BYTES_MAX) {
        (void)fprintf(stderr, "usage: bench_echo PORT BYTES (at most %u)\n", ECHO_BYTES_MAX);
        return 2;
    }
    bytes = malloc(size + 1);
    if (bytes == NULL) {
        return 1;
    }
    memset(bytes, 'x', size);
    echo.reply = slice_of(bytes, size);
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
        echo_listen(&echo, uv_default_loop(), (uint16_t)port) != OK) {
        (void)fprintf(stderr, "bench_echo: can't listen on port %lu\n", port);
        return 1;
    }
    echo_watch(&echo, uv_default_loop(), 0, SIGTERM);
    echo_watch(&echo, uv_default_loop(), 1, SIGINT);
    (void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    free(bytes);
    return 0;
}
