/*
 * bytes_test.c: bytes over TLS: they arrive complete and in order, for any size of reads and any number of
 * bytes that the session accepts at a time; the number of empty records is limited.
 */
#include "tests/unit/tls/pair.h"

#include "server/tls/stream/tls_stream_internal.h"

#include <openssl/ssl.h>
#include <stdlib.h>

#define MANY_BYTES ((size_t)200000)
#define SECOND_US INT64_C(1000000)

static uint8_t *patterned(size_t size)
{
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)('a' + i * 7 % 26);
    }
    return bytes;
}

static void expect_whole_echo(struct pair *pair, size_t size)
{
    uint8_t *bytes = patterned(size);

    pair->got.size = 0;
    pair_send(pair, slice_of(bytes, size));
    pair_run(pair);
    assert_int_equal(pair->got.size, size);
    assert_memory_equal(pair->got.data, bytes, size);
    free(bytes);
}

static void many_bytes_come_back(void **state)
{
    static const size_t sizes[] = {1, 2, 16383, 16384, 16385, 17408, 18432, MANY_BYTES};
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        expect_whole_echo(&pair, PAIR_MODE(state) ? sizes[i] / 8 + 1 : sizes[i]);
    }
    pair_deinit(&pair);
}

static void sessions_take_as_few_bytes_as_they_like(void **state)
{
    static const size_t steps[] = {1, 7, 1000, 16383};
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        pair.step = steps[i];
        expect_whole_echo(&pair, steps[i] == 1 ? 300 : 20000);
        assert_false(pair.link.holds_input);
    }
    pair_deinit(&pair);
}

/* Goal: net may stop after any piece. Method: the session takes 10 bytes per call, and reports that it holds more. */
static void pieces_of_a_record_are_held(void **state)
{
    struct pair pair;
    uint8_t room[NET_ROOM_BYTES_MIN];
    size_t taken = 0;

    (void)state;
    pair_init(&pair, &pair_certs, false, NULL);
    pair_run(&pair);
    pair.step = 10;
    pair_send(&pair, SLICE("abcdefghijklmnopqrstuvwxy"));
    taken = pair.table.feed(pair.session, slice_of(pair.to_server.data, pair.to_server.size), 1);
    assert_int_equal(taken, pair.to_server.size);
    assert_true(pair.link.holds_input);
    assert_int_equal(pair.echo->echo.size, 10);
    /* More records wait until this one has been taken. */
    assert_int_equal(pair.table.feed(pair.session, SLICE("\x17\x03\x03"), 1), 0);
    assert_true(pair.link.holds_input);
    assert_int_equal(pair.table.drain(pair.session, room, sizeof(room)), 20 + 22);
    assert_int_equal(pair.table.feed(pair.session, slice_of(NULL, 0), 1), 0);
    assert_false(pair.link.holds_input);
    assert_int_equal(pair.echo->echo.size, 25);
    pair.to_server.size = 0;
    pair_deinit(&pair);
}

static void what_a_session_wants_is_passed_on(void **state)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    pair.echo->link->paused = true;
    pair_pass(&pair, 1);
    assert_int_equal(pair.echo->ticks, 1);
    assert_true(pair.link.paused);
    pair.echo->link->paused = false;
    pair_pass(&pair, 1);
    assert_false(pair.link.paused);
    pair.echo->link->wake(pair.echo->link);
    assert_int_equal(pair.wakes, 1);
    assert_int_equal(pair.echo->link->peer.size, pair.link.peer.size);
    assert_true(pair.table.idle_since_us(pair.session) == INT64_MAX); /* the protocol accepts it */
    pair_deinit(&pair);
}

/* Sends a key update, which is a record without plain bytes. */
static void send_key_update(struct pair *pair)
{
    uint8_t room[256];

    assert_int_equal(SSL_key_update(pair->client->ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    pair->client->to = room;
    pair->client->to_bytes = sizeof(room);
    assert_int_equal(SSL_do_handshake(pair->client->ssl), 1);
    pair_send_raw(pair, slice_of(room, sizeof(room) - pair->client->to_bytes));
    pair->client->to = NULL;
    pair->client->to_bytes = 0;
    pair_run(pair);
}

static void records_without_bytes_are_limited(void **state)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    for (unsigned i = 0; i < TLS_EMPTY_RECORDS_BURST; i++) {
        send_key_update(&pair);
    }
    assert_non_null(pair.session);
    pair.now_us += SECOND_US; /* some more may follow */
    for (unsigned i = 0; i < TLS_EMPTY_RECORDS_PER_SECOND; i++) {
        send_key_update(&pair);
    }
    assert_non_null(pair.session);
    assert_false(pair.link.rate_limited);
    expect_whole_echo(&pair, 1000);
    send_key_update(&pair);
    assert_null(pair.session);
    assert_true(pair.link.rate_limited);
    pair_deinit(&pair);
}

int run_bytes_tests(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(many_bytes_come_back),
        PAIR_TEST(sessions_take_as_few_bytes_as_they_like),
        cmocka_unit_test(pieces_of_a_record_are_held),
        PAIR_TEST(what_a_session_wants_is_passed_on),
        PAIR_TEST(records_without_bytes_are_limited),
    };

    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
