/*
 * socket_test.c: net over real sockets on loopback: single bytes, other protocols, slow readers, drain and
 * close.
 */
#include "store/base/bytes.h"
#include "tests/wire/socket_fixture.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_BYTES 300000
#define LARGE_REPLY_BYTES (8u << 20) /* larger than the kernel's buffers of a socket */
#define BURST_CALLS 100

/* Reads nothing until the server's ticks have noticed the queued output. */
static void client_slow(struct fixture *fixture)
{
    int fd = client_start_call(fixture);

    if (fd >= 0) {
        (void)usleep(20 * NET_TICK_MS * 1000);
        client_read(fixture, fd, answer_bytes(fixture->reply_bytes));
        (void)close(fd);
    }
}

/* Goal: an answer larger than any buffer arrives whole over a socket. Method: the request's first
 * bytes one by one; the answer's bytes are counted. */
static void test_socket_large_answer_is_whole(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)state;
    assert_non_null(fixture);
    fixture->reply_bytes = REPLY_BYTES;
    fixture_run(fixture, client_call, 10);
    assert_true(fixture->got_size >= answer_bytes(REPLY_BYTES));
    free(fixture);
}

/* A hundred calls in one send, with the bytes of client_start_call. */
static void client_burst(struct fixture *fixture)
{
    static uint8_t bytes[CLIENT_PRELUDE_BYTES + BURST_CALLS * CLIENT_CALL_BYTES];
    int fd = client_connect(fixture);

    memcpy(bytes, client_bytes, CLIENT_PRELUDE_BYTES);
    for (size_t i = 0; i < BURST_CALLS; i++) {
        uint8_t *call = bytes + CLIENT_PRELUDE_BYTES + i * CLIENT_CALL_BYTES;

        memcpy(call, client_bytes + CLIENT_PRELUDE_BYTES, CLIENT_CALL_BYTES);
        bytes_put_be32(call + 5, (uint32_t)i * 2 + 1); /* stream of the HEADERS frame */
        bytes_put_be32(call + CLIENT_CALL_BYTES - 9,
                       (uint32_t)i * 2 + 1); /* stream of the DATA frame */
    }
    if (fd >= 0 && client_send(fd, slice_of(bytes, sizeof(bytes)))) {
        client_read(fixture, fd, BURST_CALLS * answer_bytes(fixture->reply_bytes));
    }
    (void)close(fd);
}

/* Goal: the answers to many simultaneous calls are sent whole, though they exceed one write.
 * Method: a hundred calls in one read. */
static void test_socket_burst_of_answers_is_whole(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)state;
    assert_non_null(fixture);
    fixture->reply_bytes = 2 * NET_WRITE_BYTES / BURST_CALLS;
    fixture_run(fixture, client_burst, 10);
    assert_true(fixture->got_size >= BURST_CALLS * answer_bytes(fixture->reply_bytes));
    free(fixture);
}

/* Goal: the queue for a client that does not read is bounded, and the client gets everything once
 * it reads. Method: 8 MiB; the queue is examined in each tick. */
static void test_socket_slow_reader_bounds_the_queue(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)state;
    assert_non_null(fixture);
    fixture->reply_bytes = LARGE_REPLY_BYTES;
    fixture_run(fixture, client_slow, 10);
    assert_true(fixture->got_size >= answer_bytes(LARGE_REPLY_BYTES));
    assert_true(fixture->queued_bytes_max > 0);
    assert_true(fixture->queued_bytes_max <= NET_WRITE_BYTES);
    free(fixture);
}

static void client_http1(struct fixture *fixture)
{
    int fd = client_connect(fixture);

    if (fd >= 0 && client_send(fd, SLICE("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))) {
        client_read(fixture, fd, sizeof(fixture->got));
    }
    (void)close(fd);
}

/* Goal: a client of another protocol gets an error that it can read. Method: a GET of HTTP/1.1. */
static void test_socket_http1_gets_an_http1_error(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const char *body = NULL;
    const char *length = NULL;

    (void)state;
    assert_non_null(fixture);
    fixture_run(fixture, client_http1, 10);
    assert_int_equal(strncmp(fixture->got, "HTTP/1.1 505 ", 13), 0);
    body = strstr(fixture->got, "\r\n\r\n");
    length = strstr(fixture->got, "content-length: ");
    assert_non_null(body);
    assert_non_null(length);
    assert_int_equal(strlen(body + 4), strtoul(length + 16, NULL, 10));
    free(fixture);
}

static void client_stays(struct fixture *fixture)
{
    int fd = client_connect(fixture);

    if (fd >= 0 && client_send(fd, SLICE(H2_PREFACE "\0\0\0\4\0\0\0\0\0"))) {
        client_read(fixture, fd, sizeof(fixture->got)); /* reads to the end without sending */
    }
    (void)close(fd);
}

/* Goal: a drain ends by its deadline, for any behaviour of clients. Method: a client that answers
 * no ping and closes nothing. */
static void test_socket_drain_ends_by_its_deadline(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)state;
    assert_non_null(fixture);
    fixture->drain = true;
    fixture_run(fixture, client_stays, 10);
    assert_true(fixture->drained);
    free(fixture);
}

/* A protocol whose output never ends, until a tick that sees some of it waiting ends the session. */

static enum net_match endless_match(struct slice first_bytes)
{
    (void)first_bytes;
    return NET_MATCH_YES;
}

static enum err endless_open(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    struct fixture *fixture = user;

    (void)now_us;
    fixture->link = link;
    *ret_session = fixture;
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
    const struct fixture *fixture = session;

    memset(to, 'x', size);
    return fixture->ended ? 0 : size;
}

static void endless_tick(void *session, int64_t now_us)
{
    struct fixture *fixture = session;

    (void)now_us;
    if (net_server_stats(fixture->net)->queued_bytes_live > 0) {
        fixture->ended = true;
        fixture->link->wake(fixture->link);
    }
}

static bool endless_finished(const void *session)
{
    const struct fixture *fixture = session;

    return fixture->ended;
}

static void endless_close(void *session)
{
    struct fixture *fixture = session;

    atomic_store(&fixture->session_closed, true);
}

/* Reads nothing until the session has had time to end, then everything. */
static void client_deaf(struct fixture *fixture)
{
    int fd = client_connect(fixture);

    if (fd >= 0 && client_send(fd, SLICE("x"))) {
        (void)usleep(4 * NET_SESSION_TICK_US);
        fixture->closed_in_time = atomic_load(&fixture->session_closed);
        while (recv(fd, fixture->got, sizeof(fixture->got), 0) > 0) {
            fixture->got_size++;
        }
    }
    (void)close(fd);
}

/* Goal: a finished session is freed at once, even if its output waits for the socket, which is
 * closed later. Method: a protocol that ends once its output waits, and a client that reads
 * later. */
static void test_socket_finished_session_is_freed_while_output_waits(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const struct net_protocol endless = {.user = fixture,
                                         .match = endless_match,
                                         .open = endless_open,
                                         .feed = endless_feed,
                                         .drain = endless_drain,
                                         .tick = endless_tick,
                                         .finished = endless_finished,
                                         .close = endless_close};

    (void)state;
    assert_non_null(fixture);
    fixture->protocol = &endless;
    fixture_run(fixture, client_deaf, 10);
    assert_true(fixture->closed_in_time);
    assert_true(fixture->got_size > 0);
    free(fixture);
}

/* A protocol in which each KiB takes longer than a connection may have of a turn, except those of
 * connections that begin with `l`: they are answered with a byte. */

struct weighing {
    struct fixture *fixture;
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
    weighing->fixture = user;
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
    atomic_fetch_add(&weighing->fixture->heavy_pieces, 1);
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

static void client_heavy_and_light(struct fixture *fixture)
{
    static uint8_t heavy[HEAVY_PIECES * HEAVY_PIECE_BYTES];
    int heavies[3];
    int light = client_connect(fixture);

    memset(heavy, 'h', sizeof(heavy));
    for (size_t i = 0; i < 3; i++) {
        heavies[i] = client_connect(fixture);
        assert_true(client_send(heavies[i], slice_of(heavy, sizeof(heavy))));
    }
    while (atomic_load(&fixture->heavy_pieces) == 0) {
        (void)usleep(100);
    }
    assert_true(client_send(light, SLICE("l")));
    client_read(fixture, light, 1);
    fixture->heavy_pieces_before = atomic_load(&fixture->heavy_pieces);
    while (atomic_load(&fixture->heavy_pieces) < 3 * HEAVY_PIECES) {
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
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const struct net_protocol weighing = {.user = fixture,
                                          .match = endless_match,
                                          .open = weighing_open,
                                          .feed = weighing_feed,
                                          .drain = weighing_drain,
                                          .tick = weighing_tick,
                                          .finished = weighing_finished,
                                          .close = free};

    (void)state;
    assert_non_null(fixture);
    fixture->protocol = &weighing;
    fixture_run(fixture, client_heavy_and_light, 10);
    assert_int_equal(fixture->got_size, 1);
    assert_in_range(fixture->heavy_pieces_before, 1, HEAVY_PIECES / 2);
    free(fixture);
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
