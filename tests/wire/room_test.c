/*
 * room_test.c: room for connections over real sockets: the limits of all and of an address, and who
 * goes if there is none.
 */
#include "tests/wire/socket_fixture.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Sends the HTTP/2 preface, and a request if `busy`; returns after the server's first byte arrived. */
static int client_greet(const struct fixture *fixture, bool busy)
{
    int fd = client_connect(fixture);
    char byte = 0;

    assert_true(client_send(
        fd, slice_of(client_bytes, CLIENT_PRELUDE_BYTES + (busy ? CLIENT_HEADERS_BYTES : 0))));
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    return fd;
}

/* Reads until the server closes the connection; returns false if it does not do so in time. */
static bool client_sees_end(int fd, bool with_goaway)
{
    static const uint8_t goaway[] = "\0\0\x8\7\0\0\0\0\0\x7f\xff\xff\xff\0\0\0\0";
    char bytes[512];
    size_t size = 0;
    ssize_t step = 1;

    while (step > 0 && size < sizeof(bytes)) {
        step = recv(fd, bytes + size, sizeof(bytes) - size, 0);
        size += step > 0 ? (size_t)step : 0;
    }
    return step == 0 && (memmem(bytes, size, goaway, sizeof(goaway) - 1) != NULL) == with_goaway;
}

/* Sends a request by HTTP/1.1, and expects a text. */
static bool client_is_served(int fd)
{
    char bytes[16];

    return client_send(fd, SLICE("GET / HTTP/1.1\r\n\r\n")) &&
           recv(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes);
}

static void client_crowd(struct fixture *fixture)
{
    int silent = client_connect(fixture);
    int idle = client_greet(fixture, false);
    int busy = client_greet(fixture, true);
    int fourth = client_greet(fixture, true);
    int fifth = client_greet(fixture, true);
    int sixth = client_connect(fixture);

    assert_true(client_sees_end(silent, false));
    assert_true(client_sees_end(idle, true));
    assert_true(client_sees_end(sixth, false)); /* no other connection is idle */
    (void)close(busy);
    (void)close(silent);
    (void)close(idle);
    (void)close(sixth);
    do { /* until the server has seen the end of one */
        sixth = client_connect(fixture);
        busy = client_is_served(sixth) ? 0 : -1;
        (void)close(sixth);
    } while (busy != 0);
    (void)close(fourth);
    (void)close(fifth);
}

/* Goal: at the limit the connection that has been idle longest is closed, with a GOAWAY if it
 * speaks HTTP/2; if none is idle, the new one is closed. Method: a limit of three; a silent
 * connection, an idle one, four with open requests by turns, the last of which is refused until one
 * closes. */
static void test_socket_limit_evicts_the_longest_idle(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)state;
    assert_non_null(fixture);
    fixture_run(fixture, client_crowd, 3);
    free(fixture);
}

#define SCARCE_LIMIT 16

static void client_scarce(struct fixture *fixture)
{
    char bytes[512];
    int fds[SCARCE_LIMIT];

    for (size_t i = 0; i < SCARCE_LIMIT - 1; i++) {
        fds[i] = client_greet(fixture, i == 0);
    }
    while (recv(fds[1], bytes, sizeof(bytes), MSG_DONTWAIT) >
           0) { /* bytes that every connection receives */
    }
    atomic_fetch_add(&fixture->ahead_us, NET_IDLE_ASK_US);
    fds[SCARCE_LIMIT - 1] = client_greet(fixture, false);
    fixture->got_size = client_sees_end(fds[1], true) ? 1 : 0;
    for (size_t i = 0; i < SCARCE_LIMIT; i++) {
        (void)close(fds[i]);
    }
}

/* Goal: before the limit is reached the connection that has been idle longest is ended, if it has
 * been idle for a minimum time. Method: a limit of 16, below which 14 are not scarce; the first is
 * busy; the fifteenth arrives at once, the next one after that time. */
static void test_socket_scarcity_ends_idle_connections_early(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)state;
    assert_non_null(fixture);
    fixture_run(fixture, client_scarce, SCARCE_LIMIT);
    assert_int_equal(fixture->got_size, 1);
    free(fixture);
}

/* Returns whether the server has closed the connection, which is visible immediately; otherwise
 * nothing is received. */
static bool client_is_refused(int fd)
{
    char byte = 0;

    return fd < 0 || recv(fd, &byte, 1, 0) == 0;
}

static void client_neighbours(struct fixture *fixture)
{
    int fds[4];

    for (size_t i = 0; i < 3; i++) {
        fds[i] = client_connect(fixture);
    }
    fds[3] = client_connect_from(fixture, 2);
    if (client_is_refused(fds[2]) && client_send(fds[1], SLICE("GET / HTTP/1.1\r\n\r\n")) &&
        client_send(fds[3], SLICE("GET / HTTP/1.1\r\n\r\n"))) {
        client_read(fixture, fds[1], 12);
        client_read(fixture, fds[3], 2 * 12);
    }
    for (size_t i = 0; i < 4; i++) {
        (void)close(fds[i]);
    }
}

/* Goal: an address has a limited number of connections. Method: a limit of two; the third from the
 * same address is closed, one from another is served, and so are the first two. */
static void test_socket_address_has_a_limit(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)state;
    assert_non_null(fixture);
    fixture->address_connections_max = 2;
    fixture_run(fixture, client_neighbours, 10);
    assert_true(fixture->got_size >= 2 * 12);
    free(fixture);
}

/* A connection that is ended for its pings; false if it was refused. */
static bool client_is_rate_limited(const struct fixture *fixture)
{
    static const uint8_t ping[] = "\0\0\x8\6\0\0\0\0\0pingping";
    int fd = client_connect_from(fixture, 3);
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

static void client_floods(struct fixture *fixture)
{
    while (fixture->got_size < 100 && client_is_rate_limited(fixture)) {
        fixture->got_size++;
    }
    fixture->floods = (unsigned)fixture->got_size;
    for (int i = 0; i < 20; i++) {
        fixture->floods_again += client_is_rate_limited(fixture) ? 1 : 0;
        (void)usleep(2000); /* time for an arrival or two, which is not enough */
    }
    fixture->got_size = 0;
    client_call(fixture);
}

/* Goal: an address that repeats floods is admitted less and less often; others are not affected.
 * Method: connections that are ended for their pings, until one is refused; a call from another
 * address. */
static void test_socket_floods_slow_their_address(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    (void)state;
    assert_non_null(fixture);
    fixture->reply_bytes = 1000;
    fixture_run(fixture, client_floods, 10);
    assert_in_range(fixture->floods_again, 0, 10);
    assert_in_range(fixture->floods, NET_ARRIVALS_BURST / (NET_ARRIVALS_A_CALMED + 1), 99);
    assert_true(fixture->got_size >= answer_bytes(1000));
    free(fixture);
}

int run_room_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_socket_limit_evicts_the_longest_idle),
        cmocka_unit_test(test_socket_scarcity_ends_idle_connections_early),
        cmocka_unit_test(test_socket_address_has_a_limit),
        cmocka_unit_test(test_socket_floods_slow_their_address),
    };

    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
