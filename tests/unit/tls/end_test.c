/*
 * end_test.c: the end of a connection, from either side, in each state: bytes that were sent before it still
 * arrive, the other side is notified of the end, and nothing leaks.
 */
#include "tests/unit/tls/pair.h"

static void end_client(struct pair *pair)
{
    tls_stream_end(pair->client);
    tls_stream_end(pair->client); /* a repeated call has no effect */
    pair_run(pair);
}

static void the_server_ends(void **state)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    pair_send(&pair, SLICE("last words!"));
    pair_run(&pair);
    assert_null(pair.session);
    assert_int_equal(pair.got.size, 11);
    assert_int_equal(pair.client_step, TLS_STEP_ENDED);
    pair_deinit(&pair);
}

static void the_client_ends(void **state)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    pair_send(&pair, SLICE("hello"));
    pair_run(&pair);
    end_client(&pair);
    assert_null(pair.session);
    assert_int_equal(pair.client_step, TLS_STEP_ENDED);
    pair_deinit(&pair);
}

static void a_session_may_go_on_after_its_peer_has_ended(void **state)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    pair.half_closes = true;
    pair_send(&pair, SLICE("the answer"));
    tls_stream_end(pair.client);
    pair_run(&pair);
    assert_null(pair.session);
    assert_int_equal(pair.got.size, 10);
    assert_int_equal(pair.client_step, TLS_STEP_ENDED);
    pair_deinit(&pair);
}

/* The socket ends without close_notify: the received data may be incomplete. */
static void sockets_end(void **state)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    assert_false(pair.table.peer_ended(pair.session)); /* during the handshake */
    pair_connect_again(&pair);
    pair_run(&pair);
    assert_false(pair.table.peer_ended(pair.session));
    pair_connect_again(&pair);
    pair_run(&pair);
    pair.half_closes = true;
    pair_send(&pair, SLICE("hello"));
    assert_true(pair.table.peer_ended(pair.session));
    assert_true(pair.table.peer_ended(pair.session));
    assert_int_equal(pair.table.feed(pair.session, SLICE("ignored"), 1), 7);
    pair.to_server.size = 0;
    pair_deinit(&pair);
}

static void shutdown_ends_each_state(void **state)
{
    const struct pair_setup setup = {.alpn = ""};
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), &setup);
    pair.table.shutdown(pair.session, 1); /* during the handshake */
    assert_int_equal(pair.wakes, 1);
    assert_true(pair.table.finished(pair.session));
    pair_connect_again(&pair);
    pair_run(&pair);
    pair.table.shutdown(pair.session, 1); /* without a protocol */
    pair_run(&pair);
    assert_null(pair.session);
    assert_int_equal(pair.client_step, TLS_STEP_ENDED);
    pair_connect_again(&pair);
    pair_run(&pair);
    pair_send(&pair, SLICE("abc"));
    pair_run(&pair);
    pair.table.shutdown(pair.session, 1);
    pair_run(&pair);
    assert_null(pair.session);
    assert_int_equal(pair.got.size, 3);
    assert_int_equal(pair.client_step, TLS_STEP_ENDED);
    pair_deinit(&pair);
}

/* Goal: a changed byte is never passed on. Method: each byte of a record is changed, on a connection of its own. */
static void damaged_records_end_the_connection(void **state)
{
    struct pair pair;
    size_t record_bytes = 0;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    pair_send(&pair, SLICE("hello"));
    record_bytes = pair.to_server.size;
    for (size_t at = 0; at < record_bytes; at++) {
        pair_connect_again(&pair);
        pair_run(&pair);
        pair_send(&pair, SLICE("hello"));
        pair.to_server.data[at] ^= 0x20;
        pair_run(&pair);
        assert_int_equal(pair.got.size, 0);
        assert_true(pair.session == NULL || at == 3 ||
                    at == 4); /* a longer record is not complete */
        assert_true(pair.echo == NULL || pair.echo->echo.size == 0);
    }
    pair_deinit(&pair);
}

static void protocols_may_fail_to_open(void **state)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair.open_fails = true;
    pair_run(&pair);
    assert_null(pair.session);
    assert_int_equal(pair.client_step, TLS_STEP_ENDED);
    pair_deinit(&pair);
}

int run_end_tests(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(the_server_ends),
        PAIR_TEST(the_client_ends),
        PAIR_TEST(a_session_may_go_on_after_its_peer_has_ended),
        PAIR_TEST(sockets_end),
        PAIR_TEST(shutdown_ends_each_state),
        PAIR_TEST(damaged_records_end_the_connection),
        PAIR_TEST(protocols_may_fail_to_open),
    };

    return cmocka_run_group_tests_name("ends", tests, NULL, NULL);
}
