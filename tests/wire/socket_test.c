/*
 * socket_test.c: net over real sockets on loopback: single bytes, other protocols, slow readers, drain and
 * close.
 */
#include "store/base/bytes.h"
#include "tests/wire/socket_bench.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_BYTES 300000
#define LARGE_REPLY_BYTES (8u << 20) /* more than the kernel's buffers of a socket hold */
#define BURST_CALLS 100

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

/* Goal: an answer larger than any buffer arrives whole over a socket. Method: the request's first
 * bytes one by one; the answer's bytes are counted. */
static void test_socket_large_answer_is_whole(void **state)
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
    static uint8_t bytes[CLIENT_PRELUDE_BYTES + BURST_CALLS * CLIENT_CALL_BYTES];
    int fd = client_connect(bench);

    memcpy(bytes, client_bytes, CLIENT_PRELUDE_BYTES);
    for (size_t i = 0; i < BURST_CALLS; i++) {
        uint8_t *call = bytes + CLIENT_PRELUDE_BYTES + i * CLIENT_CALL_BYTES;

        memcpy(call, client_bytes + CLIENT_PRELUDE_BYTES, CLIENT_CALL_BYTES);
        bytes_put_be32(call + 5, (uint32_t)i * 2 + 1); /* of the frame of HEADERS */
        bytes_put_be32(call + CLIENT_CALL_BYTES - 9, (uint32_t)i * 2 + 1); /* and of DATA */
    }
    if (fd >= 0 && client_send(fd, slice_of(bytes, sizeof(bytes)))) {
        client_read(bench, fd, BURST_CALLS * answer_bytes(bench->reply_bytes));
    }
    (void)close(fd);
}

/* Goal: the answers to many simultaneous calls are sent whole, though they exceed one write.
 * Method: a hundred calls in one read. */
static void test_socket_burst_of_answers_is_whole(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    (void)state;
    assert_non_null(bench);
    bench->reply_bytes = 2 * NET_WRITE_BYTES / BURST_CALLS;
    bench_run(bench, client_burst, 10);
    assert_true(bench->got_size >= BURST_CALLS * answer_bytes(bench->reply_bytes));
    free(bench);
}

/* Goal: the queue for a client that does not read is bounded, and the client gets everything once
 * it reads. Method: 8 MiB; the queue is examined in each tick. */
static void test_socket_slow_reader_bounds_the_queue(void **state)
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

/* Goal: a client of another protocol gets an error that it can read. Method: a GET of HTTP/1.1. */
static void test_socket_http1_gets_an_http1_error(void **state)
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

static void client_stays(struct bench *bench)
{
    int fd = client_connect(bench);

    if (fd >= 0 && client_send(fd, SLICE(H2_PREFACE "\0\0\0\4\0\0\0\0\0"))) {
        client_read(bench, fd, sizeof(bench->got)); /* to the end, saying nothing */
    }
    (void)close(fd);
}

/* Goal: a drain ends by its deadline, for any behaviour of clients. Method: a client that answers
 * no ping and closes nothing. */
static void test_socket_drain_ends_by_its_deadline(void **state)
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

/* Goal: a finished session is freed at once, even if its output waits for the socket, which is
 * closed later. Method: a protocol that ends once its output waits, and a client that reads
 * later. */
static void test_socket_finished_session_is_freed_while_output_waits(void **state)
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

/* Goal: connections whose bytes take long to process do not delay others, and all their bytes are
 * processed. Method: three with 64 pieces of 2 ms each, and one that sends a call in the middle of
 * that: it is answered long before they are done. */
static void test_socket_slow_input_does_not_delay_others(void **state)
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
        cmocka_unit_test(test_socket_large_answer_is_whole),
        cmocka_unit_test(test_socket_burst_of_answers_is_whole),
        cmocka_unit_test(test_socket_slow_reader_bounds_the_queue),
        cmocka_unit_test(test_socket_http1_gets_an_http1_error),
        cmocka_unit_test(test_socket_drain_ends_by_its_deadline),
        cmocka_unit_test(test_socket_finished_session_is_freed_while_output_waits),
        cmocka_unit_test(test_socket_slow_input_does_not_delay_others),
    };

    return cmocka_run_group_tests_name("sockets", tests, NULL, NULL);
}
