/*
 * socket_fixture.c: see socket_fixture.h.
 */
#include "tests/wire/socket_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENT_WAIT_S 10

static const struct method_info echo_method = {.path = {(const uint8_t *)"/t.T/Big", 8}};

static const struct method_info *find_any(struct slice path)
{
    (void)path;
    return &echo_method;
}

static void on_nothing(void *user, struct call *call)
{
    (void)user;
    (void)call;
}

static void on_message(void *user, struct call *call, struct slice message)
{
    const struct status status = {.code = STATUS_OK};
    const struct fixture *fixture = user;
    struct buffer *buffer = call_reply_begin(call, fixture->reply_bytes);

    (void)message;
    assert_true(buffer_reserve(buffer, fixture->reply_bytes));
    memset(buffer->data + buffer->size, 'r', fixture->reply_bytes);
    buffer->size += fixture->reply_bytes;
    assert_int_equal(call_reply_end(call), OK);
    call_finish(call, &status);
}

static void on_cancel(void *user, struct call *call, enum err why)
{
    const struct status status = {.code = STATUS_CANCELLED};

    (void)user;
    (void)why;
    call_finish(call, &status);
}

static void on_tick(void *user, int64_t now_us)
{
    struct fixture *fixture = user;

    call_server_tick(fixture->calls, now_us);
    if (net_server_stats(fixture->net)->queued_bytes_live > fixture->queued_bytes_max) {
        fixture->queued_bytes_max = net_server_stats(fixture->net)->queued_bytes_live;
    }
}

static void on_closed(void *user)
{
    struct fixture *fixture = user;

    fixture->closed = true;
    net_server_free(fixture->net);
    uv_close((uv_handle_t *)&fixture->client_done, NULL);
}

static void on_drained(void *user)
{
    struct fixture *fixture = user;

    fixture->drained = true;
    net_server_close(fixture->net, on_closed, fixture);
}

static void on_client_done(uv_async_t *handle)
{
    struct fixture *fixture = handle->data;

    if (!fixture->drain) {
        net_server_close(fixture->net, on_closed, fixture);
    }
}

static void *run_client(void *user)
{
    struct fixture *fixture = user;

    fixture->client(fixture);
    (void)uv_async_send(&fixture->client_done);
    return NULL;
}

int client_connect_from(const struct fixture *fixture, uint32_t number)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(fixture->port)};
    struct timeval wait = {.tv_sec = CLIENT_WAIT_S};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int small = 65536; /* small, so that unread bytes soon stay in the server's buffers */

    from.sin_addr.s_addr = htonl((127u << 24) + number);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) != 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        return -1;
    }
    return fd;
}

int client_connect(const struct fixture *fixture)
{
    return client_connect_from(fixture, 1);
}

bool client_send(int fd, struct slice bytes)
{
    return send(fd, bytes.data, bytes.size, MSG_NOSIGNAL) == (ssize_t)bytes.size;
}

void client_read(struct fixture *fixture, int fd, size_t enough)
{
    while (fixture->got_size < enough) {
        ssize_t size =
            recv(fd, fixture->got + fixture->got_size, sizeof(fixture->got) - fixture->got_size, 0);

        if (size <= 0) {
            return;
        }
        fixture->got_size += (size_t)size;
    }
}

static void expect_reason(const struct fault *fault, const char *reason)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "%.*s", (int)fault->message.size,
                   (const char *)fault->message.data);
    assert_non_null(strstr(text, reason));
}

/* Binds to a free port before anything listens; what cannot be had states why. */
static void start_listening(struct fixture *fixture)
{
    struct net_bound bound;
    struct net_bound other;
    struct arena arena;
    struct fault fault;

    arena_init(&arena, SIZE_MAX);
    fault_init(&fault, &arena);
    assert_int_equal(net_bind("no address", 0, &fault, &bound), ERR_INVALID);
    assert_int_equal(net_bind("192.0.2.1", 0, &fault, &bound), ERR_UNAVAILABLE);
    expect_reason(&fault, "192.0.2.1:0: Cannot assign requested address; expected an address of");
    assert_int_equal(net_bind("127.0.0.1", 0, &fault, &bound), OK);
    fixture->port = (uint16_t)strtoul(strchr(bound.address, ':') + 1, NULL, 10);
    assert_int_not_equal(fixture->port, 0);
    assert_int_equal(net_bind("127.0.0.1", fixture->port, &fault, &other),
                     OK); /* no server listens */
    assert_int_equal(net_server_listen(fixture->net, &bound, &fault), OK);
    assert_int_equal(bound.socket, -1);
    assert_int_equal(net_server_listen(fixture->net, &other, &fault), ERR_UNAVAILABLE);
    expect_reason(&fault, "Address already in use; expected a free port");
    net_unbind(&other);
    assert_int_equal(net_bind("127.0.0.1", fixture->port, &fault, &other), ERR_UNAVAILABLE);
    expect_reason(&fault, "Address already in use; expected a free port");
    arena_deinit(&arena);
}

static int64_t fixture_now_us(const struct clock *clock)
{
    const struct fixture *fixture =
        (const struct fixture *)(const void *)((const char *)clock -
                                               offsetof(struct fixture, clock));

    return clock_monotonic_us(clock_system()) + atomic_load(&fixture->ahead_us);
}

void fixture_run(struct fixture *fixture, void (*client)(struct fixture *fixture),
                 uint32_t connections_max)
{
    struct call_config config = call_config_default(&fixture->handlers);
    struct net_protocol protocol;
    struct net_config net = {.clock = &fixture->clock,
                             .connections_max = connections_max,
                             .address_connections_max = fixture->address_connections_max,
                             .protocols = &protocol,
                             .protocol_count = 1,
                             .on_tick = on_tick,
                             .user = fixture};

    fixture->clock = (struct clock){fixture_now_us, fixture_now_us, fixture_now_us};
    fixture->handlers = (struct call_handlers){.user = fixture,
                                               .on_start = on_nothing,
                                               .on_message = on_message,
                                               .on_half_close = on_nothing,
                                               .on_writable = on_nothing,
                                               .on_cancel = on_cancel};
    config.find_method = find_any;
    fixture->client = client;
    assert_int_equal(uv_loop_init(&fixture->loop), 0);
    assert_int_equal(call_server_new(&config, clock_monotonic_us(clock_system()), &fixture->calls),
                     OK);
    assert_int_equal(grpc_server_new(fixture->calls, NULL, &fixture->grpc), OK);
    protocol = fixture->protocol != NULL ? *fixture->protocol : grpc_server_protocol(fixture->grpc);
    assert_int_equal(net_server_new(&fixture->loop, &net, &fixture->net), OK);
    start_listening(fixture);
    assert_int_equal(uv_async_init(&fixture->loop, &fixture->client_done, on_client_done), 0);
    fixture->client_done.data = fixture;
    assert_int_equal(pthread_create(&fixture->thread, NULL, run_client, fixture), 0);
    if (fixture->drain) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE); /* the connection is there */
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
        net_server_drain(fixture->net, 200, on_drained, fixture);
    }
    assert_int_equal(uv_run(&fixture->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(pthread_join(fixture->thread, NULL), 0);
    assert_true(fixture->closed);
    assert_int_equal(call_server_stats(fixture->calls).calls_live, 0);
    grpc_server_free(fixture->grpc);
    call_server_free(fixture->calls);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
}

const uint8_t client_bytes[CLIENT_PRELUDE_BYTES + CLIENT_CALL_BYTES] =
    H2_PREFACE "\0\0\6\4\0\0\0\0\0\0\4\1\0\0\0"
               "\0\0\4\x8\0\0\0\0\0\1\0\0\0"
               "\0\0\x4c\1\4\0\0\0\1\x83\x86"
               "\0\5:path\x8/t.T/Big\0\xa:authority\1a"
               "\0\xc"
               "content-type\x10"
               "application/grpc\0\2te\x8trailers"
               "\0\0\5\0\1\0\0\0\1\0\0\0\0\0";

int client_start_call(struct fixture *fixture)
{
    struct slice bytes = slice_of(client_bytes, sizeof(client_bytes));
    int fd = client_connect(fixture);

    for (size_t i = 0; i < 60 && fd >= 0; i++) {
        if (!client_send(fd, slice_of(bytes.data + i, 1))) {
            (void)close(fd);
            return -1;
        }
    }
    if (fd >= 0 && !client_send(fd, slice_after(bytes, 60))) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

size_t answer_bytes(size_t reply_bytes)
{
    return reply_bytes + 5 + (reply_bytes + 5 + 16383) / 16384 * 9;
}

void client_call(struct fixture *fixture)
{
    int fd = client_start_call(fixture);

    if (fd >= 0) {
        client_read(fixture, fd, answer_bytes(fixture->reply_bytes));
        (void)close(fd);
    }
}
