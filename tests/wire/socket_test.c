/*
 * socket_test.c: net over real sockets on loopback: single bytes, other protocols, limits, drain and
 * close. The client is plain blocking sockets in a thread; the server runs in the test's loop.
 */
#include "server/net/server.h"
#include "store/base/bytes.h"
#include "tests/wire/wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_BYTES 300000
#define LARGE_REPLY_BYTES (8u << 20) /* more than the kernel's buffers of a socket hold */
#define CLIENT_WAIT_S 10

struct bench {
    uv_loop_t loop;
    struct call_handlers handlers;
    struct call_server *calls;
    struct net_server *net;
    uint16_t port;
    uv_async_t client_done; /* the client's thread has ended */
    bool drain; /* end by drain, with a client that stays */
    bool drained;
    bool closed;
    size_t reply_bytes;
    uint64_t queued_bytes_max; /* as each tick saw it */
    const struct net_protocol *protocol; /* NULL: gRPC */
    uint32_t address_connections_max; /* 0: the server's own */
    unsigned floods; /* connections that were ended for one, before one was refused */
    unsigned floods_again; /* of the next 20 */
    struct net_link *link; /* of the endless protocol's one session */
    bool ended; /* it has nothing to say any more */
    atomic_bool session_closed;
    bool closed_in_time; /* while the client had read nothing */
    atomic_uint heavy_pieces; /* of the weighing protocol: taken of a heavy connection's bytes */
    unsigned heavy_pieces_before; /* the light one was answered */
    void (*client)(struct bench *bench);
    pthread_t thread;
    char got[16 << 20]; /* what the client read */
    size_t got_size;
};

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
    const struct status status = {.code = GRPC_OK};
    const struct bench *bench = user;
    struct buffer *buffer = call_reply_begin(call, bench->reply_bytes);

    (void)message;
    assert_true(buffer_reserve(buffer, bench->reply_bytes));
    memset(buffer->data + buffer->size, 'r', bench->reply_bytes);
    buffer->size += bench->reply_bytes;
    assert_int_equal(call_reply_end(call), OK);
    call_finish(call, &status);
}

static void on_cancel(void *user, struct call *call, enum err why)
{
    const struct status status = {.code = GRPC_CANCELLED};

    (void)user;
    (void)why;
    call_finish(call, &status);
}

static void on_tick(void *user, int64_t now_us)
{
    struct bench *bench = user;

    call_server_tick(bench->calls, now_us);
    if (net_server_stats(bench->net)->queued_bytes_live > bench->queued_bytes_max) {
        bench->queued_bytes_max = net_server_stats(bench->net)->queued_bytes_live;
    }
}

static void on_closed(void *user)
{
    struct bench *bench = user;

    bench->closed = true;
    net_server_free(bench->net);
    uv_close((uv_handle_t *)&bench->client_done, NULL);
}

static void on_drained(void *user)
{
    struct bench *bench = user;

    bench->drained = true;
    net_server_close(bench->net, on_closed, bench);
}

static void on_client_done(uv_async_t *handle)
{
    struct bench *bench = handle->data;

    if (!bench->drain) {
        net_server_close(bench->net, on_closed, bench);
    }
}

static void *run_client(void *user)
{
    struct bench *bench = user;

    bench->client(bench);
    (void)uv_async_send(&bench->client_done);
    return NULL;
}

/* From 127.0.0.1, 127.0.0.2, ... */
static int client_connect_from(const struct bench *bench, uint32_t number)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(bench->port)};
    struct timeval wait = {.tv_sec = CLIENT_WAIT_S};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int small = 65536; /* so that what is not read is soon the server's to keep */

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

static int client_connect(const struct bench *bench)
{
    return client_connect_from(bench, 1);
}

static bool client_send(int fd, struct slice bytes)
{
    return send(fd, bytes.data, bytes.size, MSG_NOSIGNAL) == (ssize_t)bytes.size;
}

/* Reads until the server ends, an error, or `enough` bytes. */
static void client_read(struct bench *bench, int fd, size_t enough)
{
    while (bench->got_size < enough) {
        ssize_t size =
            recv(fd, bench->got + bench->got_size, sizeof(bench->got) - bench->got_size, 0);

        if (size <= 0) {
            return;
        }
        bench->got_size += (size_t)size;
    }
}

static void expect_reason(const struct fault *fault, const char *reason)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "%.*s", (int)fault->message.size,
                   (const char *)fault->message.data);
    assert_non_null(strstr(text, reason));
}

/* Binds to a free port before anything listens; what can't be had says why. */
static void start_listening(struct bench *bench)
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
    bench->port = (uint16_t)strtoul(strchr(bound.address, ':') + 1, NULL, 10);
    assert_int_not_equal(bench->port, 0);
    assert_int_equal(net_bind("127.0.0.1", bench->port, &fault, &other), OK); /* none listens */
    assert_int_equal(net_server_listen(bench->net, &bound, &fault), OK);
    assert_int_equal(bound.socket, -1);
    assert_int_equal(net_server_listen(bench->net, &other, &fault), ERR_UNAVAILABLE);
    expect_reason(&fault, "Address already in use; expected a free port");
    net_unbind(&other);
    assert_int_equal(net_bind("127.0.0.1", bench->port, &fault, &other), ERR_UNAVAILABLE);
    expect_reason(&fault, "Address already in use; expected a free port");
    arena_deinit(&arena);
}

static void bench_run(struct bench *bench, void (*client)(struct bench *bench),
                      uint32_t connections_max)
{
    struct call_config config = call_config_default(&bench->handlers);
    struct net_protocol protocol;
    struct net_config net = {.clock = clock_system(),
                             .connections_max = connections_max,
                             .address_connections_max = bench->address_connections_max,
                             .protocols = &protocol,
                             .protocol_count = 1,
                             .on_tick = on_tick,
                             .user = bench};

    bench->handlers = (struct call_handlers){.user = bench,
                                             .on_start = on_nothing,
                                             .on_message = on_message,
                                             .on_half_close = on_nothing,
                                             .on_writable = on_nothing,
                                             .on_cancel = on_cancel};
    config.find_method = find_any;
    bench->client = client;
    assert_int_equal(uv_loop_init(&bench->loop), 0);
    assert_int_equal(call_server_new(&config, clock_monotonic_us(clock_system()), &bench->calls),
                     OK);
    protocol = bench->protocol != NULL ? *bench->protocol : call_server_grpc(bench->calls);
    assert_int_equal(net_server_new(&bench->loop, &net, &bench->net), OK);
    start_listening(bench);
    assert_int_equal(uv_async_init(&bench->loop, &bench->client_done, on_client_done), 0);
    bench->client_done.data = bench;
    assert_int_equal(pthread_create(&bench->thread, NULL, run_client, bench), 0);
    if (bench->drain) {
        (void)uv_run(&bench->loop, UV_RUN_ONCE); /* the connection is there */
        (void)uv_run(&bench->loop, UV_RUN_ONCE);
        net_server_drain(bench->net, 200, on_drained, bench);
    }
    assert_int_equal(uv_run(&bench->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(pthread_join(bench->thread, NULL), 0);
    assert_true(bench->closed);
    assert_int_equal(call_server_stats(bench->calls).calls_live, 0);
    call_server_free(bench->calls);
    assert_int_equal(uv_loop_close(&bench->loop), 0);
}

/* Preface; SETTINGS with a window of 16 MiB; WINDOW_UPDATE of the connection; HEADERS of literal
 * fields (RFC 7541, 6.2.2); DATA with an empty message. */
static const uint8_t client_bytes[] = H2_PREFACE "\0\0\6\4\0\0\0\0\0\0\4\1\0\0\0"
                                                 "\0\0\4\x8\0\0\0\0\0\1\0\0\0"
                                                 "\0\0\x4c\1\4\0\0\0\1\x83\x86"
                                                 "\0\5:path\x8/t.T/Big\0\xa:authority\1a"
                                                 "\0\xc"
                                                 "content-type\x10"
                                                 "application/grpc\0\2te\x8trailers"
                                                 "\0\0\5\0\1\0\0\0\1\0\0\0\0\0";

#define PRELUDE_BYTES (sizeof(H2_PREFACE) - 1 + 15 + 13)
#define CALL_BYTES (sizeof(client_bytes) - 1 - PRELUDE_BYTES)
#define BURST_CALLS 100

/* Sends a call: its first bytes one by one. */
static int client_start_call(struct bench *bench)
{
    struct slice bytes = slice_of(client_bytes, sizeof(client_bytes) - 1);
    int fd = client_connect(bench);

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

/* Bytes of an answer with this reply, at least: each DATA frame has a head of 9. */
static size_t answer_bytes(size_t reply_bytes)
{
    return reply_bytes + 5 + (reply_bytes + 5 + 16383) / 16384 * 9;
}

static void client_call(struct bench *bench)
{
    int fd = client_start_call(bench);

    if (fd >= 0) {
        client_read(bench, fd, answer_bytes(bench->reply_bytes));
        (void)close(fd);
    }
}

/* Reads nothing until the server has had ticks to see what it queues. */
static void client_slow(struct bench *bench)
{
    int fd = client_start_call(bench);

    if (fd >= 0) {
        (void)usleep(20 * NET_TICK_MS * 1000);
        client_read(bench, fd, answer_bytes(bench->reply_bytes));
        (void)close(fd);
    }
}

/* Goal: an answer larger than any buffer comes whole over a socket. Method: the request's first bytes
 * one by one; the answer's bytes are counted. */
static void test_socket_call(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    (void)state;
    assert_non_null(bench);
    bench->reply_bytes = REPLY_BYTES;
    bench_run(bench, client_call, 10);
    assert_true(bench->got_size >= answer_bytes(REPLY_BYTES));
    free(bench);
}

/* A hundred calls in one send, with the bytes of client_start_call. */
static void client_burst(struct bench *bench)
{
    static uint8_t bytes[PRELUDE_BYTES + BURST_CALLS * CALL_BYTES];
    int fd = client_connect(bench);

    memcpy(bytes, client_bytes, PRELUDE_BYTES);
    for (size_t i = 0; i < BURST_CALLS; i++) {
        uint8_t *call = bytes + PRELUDE_BYTES + i * CALL_BYTES;

        memcpy(call, client_bytes + PRELUDE_BYTES, CALL_BYTES);
        bytes_put_be32(call + 5, (uint32_t)i * 2 + 1); /* of the frame of HEADERS */
        bytes_put_be32(call + CALL_BYTES - 9, (uint32_t)i * 2 + 1); /* and of DATA */
    }
    if (fd >= 0 && client_send(fd, slice_of(bytes, sizeof(bytes)))) {
        client_read(bench, fd, BURST_CALLS * answer_bytes(bench->reply_bytes));
    }
    (void)close(fd);
}

/* Goal: answers to many calls at once go out whole, though they are more than one write takes. Method:
 * a hundred calls in one read. */
static void test_socket_burst(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    (void)state;
    assert_non_null(bench);
    bench->reply_bytes = 2 * NET_WRITE_BYTES / BURST_CALLS;
    bench_run(bench, client_burst, 10);
    assert_true(bench->got_size >= BURST_CALLS * answer_bytes(bench->reply_bytes));
    free(bench);
}

/* Goal: a client that does not read bounds what is queued for it, and gets everything when it does.
 * Method: 8 MiB; the queue is looked at in each tick. */
static void test_socket_slow_reader(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    (void)state;
    assert_non_null(bench);
    bench->reply_bytes = LARGE_REPLY_BYTES;
    bench_run(bench, client_slow, 10);
    assert_true(bench->got_size >= answer_bytes(LARGE_REPLY_BYTES));
    assert_true(bench->queued_bytes_max > 0);
    assert_true(bench->queued_bytes_max <= NET_WRITE_BYTES);
    free(bench);
}

static void client_http1(struct bench *bench)
{
    int fd = client_connect(bench);

    if (fd >= 0 && client_send(fd, SLICE("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))) {
        client_read(bench, fd, sizeof(bench->got));
    }
    (void)close(fd);
}

/* Goal: whoever speaks something else hears so. Method: a GET of HTTP/1.1. */
static void test_socket_http1(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    const char *body = NULL;
    const char *length = NULL;

    (void)state;
    assert_non_null(bench);
    bench_run(bench, client_http1, 10);
    assert_int_equal(strncmp(bench->got, "HTTP/1.1 505 ", 13), 0);
    body = strstr(bench->got, "\r\n\r\n");
    length = strstr(bench->got, "content-length: ");
    assert_non_null(body);
    assert_non_null(length);
    assert_int_equal(strlen(body + 4), strtoul(length + 16, NULL, 10));
    free(bench);
}

static void client_crowd(struct bench *bench)
{
    int first = client_connect(bench);
    int second = client_connect(bench);
    int third = client_connect(bench);

    client_read(bench, third, 1); /* ends at once, where the others wait for bytes */
    bench->got_size = third >= 0 ? 1 : 0;
    (void)close(first);
    (void)close(second);
    (void)close(third);
}

/* Goal: connections have a limit. Method: a limit of two; the third is closed. */
static void test_socket_limit(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    (void)state;
    assert_non_null(bench);
    bench_run(bench, client_crowd, 2);
    assert_int_equal(bench->got_size, 1);
    free(bench);
}

/* Whether the server has closed it, which is told at once; else nothing comes. */
static bool client_is_refused(int fd)
{
    char byte = 0;

    return fd < 0 || recv(fd, &byte, 1, 0) == 0;
}

static void client_neighbours(struct bench *bench)
{
    int fds[4];

    for (size_t i = 0; i < 3; i++) {
        fds[i] = client_connect(bench);
    }
    fds[3] = client_connect_from(bench, 2);
    if (client_is_refused(fds[2]) && client_send(fds[1], SLICE("GET / HTTP/1.1\r\n\r\n")) &&
        client_send(fds[3], SLICE("GET / HTTP/1.1\r\n\r\n"))) {
        client_read(bench, fds[1], 12);
        client_read(bench, fds[3], 2 * 12);
    }
    for (size_t i = 0; i < 4; i++) {
        (void)close(fds[i]);
    }
}

/* Goal: an address has its share of connections, and no more. Method: a limit of two; the third from the
 * same address is closed, one from another is served, and so are the first two. */
static void test_socket_address_limit(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    (void)state;
    assert_non_null(bench);
    bench->address_connections_max = 2;
    bench_run(bench, client_neighbours, 10);
    assert_true(bench->got_size >= 2 * 12);
    free(bench);
}

/* A connection that is ended for its pings; false where it was refused. */
static bool client_is_calmed(const struct bench *bench)
{
    static const uint8_t ping[] = "\0\0\x8\6\0\0\0\0\0pingping";
    int fd = client_connect_from(bench, 3);
    char bytes[512];
    size_t size = 0;
    ssize_t step = 1;

    (void)client_send(fd, SLICE(H2_PREFACE "\0\0\0\4\0\0\0\0\0"));
    for (int i = 0; i < 5; i++) {
        (void)client_send(fd, slice_of(ping, sizeof(ping) - 1));
    }
    while (step > 0 && size < sizeof(bytes)) {
        step = recv(fd, bytes + size, sizeof(bytes) - size, 0);
        size += step > 0 ? (size_t)step : 0;
    }
    (void)close(fd);
    return size > 0 && memmem(bytes, size, "too_many_pings", 14) != NULL;
}

static void client_floods(struct bench *bench)
{
    while (bench->got_size < 100 && client_is_calmed(bench)) {
        bench->got_size++;
    }
    bench->floods = (unsigned)bench->got_size;
    for (int i = 0; i < 20; i++) {
        bench->floods_again += client_is_calmed(bench) ? 1 : 0;
        (void)usleep(2000); /* time to earn an arrival or two, which is not enough */
    }
    bench->got_size = 0;
    client_call(bench);
}

/* Goal: whoever comes back for another flood comes back less and less; others do not notice. Method:
 * connections that are ended for their pings, until one is refused; a call from another address. */
static void test_socket_floods_from_one_address(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    (void)state;
    assert_non_null(bench);
    bench->reply_bytes = 1000;
    bench_run(bench, client_floods, 10);
    assert_in_range(bench->floods_again, 0, 10);
    assert_in_range(bench->floods, NET_ARRIVALS_BURST / (NET_ARRIVALS_A_CALMED + 1), 99);
    assert_true(bench->got_size >= answer_bytes(1000));
    free(bench);
}

static void client_stays(struct bench *bench)
{
    int fd = client_connect(bench);

    if (fd >= 0 && client_send(fd, SLICE(H2_PREFACE "\0\0\0\4\0\0\0\0\0"))) {
        client_read(bench, fd, sizeof(bench->got)); /* to the end, saying nothing */
    }
    (void)close(fd);
}

/* Goal: a drain ends by its deadline, whatever clients do. Method: a client that answers no ping and
 * closes nothing. */
static void test_socket_drain(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    (void)state;
    assert_non_null(bench);
    bench->drain = true;
    bench_run(bench, client_stays, 10);
    assert_true(bench->drained);
    free(bench);
}

/* A protocol whose output never ends, until a tick that sees some of it waiting ends the session. */

static enum net_match endless_match(struct slice first_bytes)
{
    (void)first_bytes;
    return NET_MATCH_YES;
}

static enum err endless_open(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    struct bench *bench = user;

    (void)now_us;
    bench->link = link;
    *ret_session = bench;
    return OK;
}

static size_t endless_feed(void *session, struct slice bytes, int64_t now_us)
{
    (void)session;
    (void)now_us;
    return bytes.size;
}

static size_t endless_drain(void *session, uint8_t *to, size_t size)
{
    const struct bench *bench = session;

    memset(to, 'x', size);
    return bench->ended ? 0 : size;
}

static void endless_tick(void *session, int64_t now_us)
{
    struct bench *bench = session;

    (void)now_us;
    if (net_server_stats(bench->net)->queued_bytes_live > 0) {
        bench->ended = true;
        bench->link->wake(bench->link);
    }
}

static bool endless_finished(const void *session)
{
    const struct bench *bench = session;

    return bench->ended;
}

static void endless_close(void *session)
{
    struct bench *bench = session;

    atomic_store(&bench->session_closed, true);
}

/* Reads nothing until the session has had time to end, then everything. */
static void client_deaf(struct bench *bench)
{
    int fd = client_connect(bench);

    if (fd >= 0 && client_send(fd, SLICE("x"))) {
        (void)usleep(4 * NET_SESSION_TICK_US);
        bench->closed_in_time = atomic_load(&bench->session_closed);
        while (recv(fd, bench->got, sizeof(bench->got), 0) > 0) {
            bench->got_size++;
        }
    }
    (void)close(fd);
}

/* Goal: a session that is finished goes at once, though its output waits for the socket, which ends
 * behind it. Method: a protocol that ends once its output waits, and a client that reads later. */
static void test_socket_finished_while_waiting(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    const struct net_protocol endless = {.user = bench,
                                         .match = endless_match,
                                         .open = endless_open,
                                         .feed = endless_feed,
                                         .drain = endless_drain,
                                         .tick = endless_tick,
                                         .finished = endless_finished,
                                         .close = endless_close};

    (void)state;
    assert_non_null(bench);
    bench->protocol = &endless;
    bench_run(bench, client_deaf, 10);
    assert_true(bench->closed_in_time);
    assert_true(bench->got_size > 0);
    free(bench);
}

/* A protocol in which each KiB takes longer than a connection may have of a turn, but for those of
 * connections that begin with `l`: they are answered with a byte. */

struct weighing {
    struct bench *bench;
    bool answer_due;
};

#define HEAVY_PIECE_BYTES 1024
#define HEAVY_PIECES 64

static enum err weighing_open(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    struct weighing *weighing = calloc(1, sizeof(*weighing));

    (void)link;
    (void)now_us;
    assert_non_null(weighing);
    weighing->bench = user;
    *ret_session = weighing;
    return OK;
}

static size_t weighing_feed(void *session, struct slice bytes, int64_t now_us)
{
    struct weighing *weighing = session;

    (void)now_us;
    if (bytes.data[0] == 'l') {
        weighing->answer_due = true;
        return bytes.size;
    }
    (void)usleep(2 * NET_FEED_US);
    atomic_fetch_add(&weighing->bench->heavy_pieces, 1);
    return bytes.size < HEAVY_PIECE_BYTES ? bytes.size : HEAVY_PIECE_BYTES;
}

static size_t weighing_drain(void *session, uint8_t *to, size_t size)
{
    struct weighing *weighing = session;

    assert_true(size > 0);
    if (!weighing->answer_due) {
        return 0;
    }
    weighing->answer_due = false;
    *to = 'a';
    return 1;
}

static void weighing_tick(void *session, int64_t now_us)
{
    (void)session;
    (void)now_us;
}

static bool weighing_finished(const void *session)
{
    (void)session;
    return false;
}

static void client_heavy_and_light(struct bench *bench)
{
    static uint8_t heavy[HEAVY_PIECES * HEAVY_PIECE_BYTES];
    int heavies[3];
    int light = client_connect(bench);

    memset(heavy, 'h', sizeof(heavy));
    for (size_t i = 0; i < 3; i++) {
        heavies[i] = client_connect(bench);
        assert_true(client_send(heavies[i], slice_of(heavy, sizeof(heavy))));
    }
    while (atomic_load(&bench->heavy_pieces) == 0) {
        (void)usleep(100);
    }
    assert_true(client_send(light, SLICE("l")));
    client_read(bench, light, 1);
    bench->heavy_pieces_before = atomic_load(&bench->heavy_pieces);
    while (atomic_load(&bench->heavy_pieces) < 3 * HEAVY_PIECES) {
        (void)usleep(100);
    }
    for (size_t i = 0; i < 3; i++) {
        (void)close(heavies[i]);
    }
    (void)close(light);
}

/* Goal: connections whose bytes take long do not keep others waiting, and have all their bytes taken in
 * the end. Method: three with 64 pieces of 2 ms each, and one that asks in the middle of that: it has
 * its answer long before they are through. */
static void test_socket_fair_turns(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    const struct net_protocol weighing = {.user = bench,
                                          .match = endless_match,
                                          .open = weighing_open,
                                          .feed = weighing_feed,
                                          .drain = weighing_drain,
                                          .tick = weighing_tick,
                                          .finished = weighing_finished,
                                          .close = free};

    (void)state;
    assert_non_null(bench);
    bench->protocol = &weighing;
    bench_run(bench, client_heavy_and_light, 10);
    assert_int_equal(bench->got_size, 1);
    assert_in_range(bench->heavy_pieces_before, 1, HEAVY_PIECES / 2);
    free(bench);
}

int run_socket_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_socket_call),
        cmocka_unit_test(test_socket_burst),
        cmocka_unit_test(test_socket_slow_reader),
        cmocka_unit_test(test_socket_http1),
        cmocka_unit_test(test_socket_limit),
        cmocka_unit_test(test_socket_address_limit),
        cmocka_unit_test(test_socket_floods_from_one_address),
        cmocka_unit_test(test_socket_drain),
        cmocka_unit_test(test_socket_finished_while_waiting),
        cmocka_unit_test(test_socket_fair_turns),
    };

    return cmocka_run_group_tests_name("sockets", tests, NULL, NULL);
}
