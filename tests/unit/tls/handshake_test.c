/*
 * handshake_test.c: handshakes that succeed, with each choice of a protocol, and those that fail: each for
 * its own reason, which both sides report, in time, and without a leak.
 */
#include "tests/unit/tls/pair.h"

#include "server/tls/stream/tls_stream_internal.h"
#include "store/base/fault_point.h"

#include <openssl/ssl.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)

static void expect_echo(struct pair *pair, const char *text)
{
    size_t before = pair->got.size;

    pair_send(pair, slice_text(text));
    pair_run(pair);
    assert_int_equal(pair->got.size - before, strlen(text));
    assert_memory_equal(pair->got.data + before, text, strlen(text));
}

static void alpn_selects_the_protocol(void **state)
{
    static const struct {
        const char *alpn;
        const char *opened;
    } cases[] = {{"\2h2", "h2"},
                 {"\2h2\10http/1.1", "h2"},
                 {"\10http/1.1\2h2", "h2"}, /* the server's order */
                 {"\10http/1.1", "http/1.1"},
                 {"\6spdy/1\10http/1.1", "http/1.1"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct pair_setup setup = {.alpn = cases[i].alpn};
        struct pair pair;

        pair_init(&pair, &pair_certs, PAIR_MODE(state), &setup);
        pair_run(&pair);
        assert_true(pair.shaken);
        assert_string_equal(pair.opened, cases[i].opened);
        expect_echo(&pair, "hello");
        assert_int_equal(tls_server_stats(pair.server)->handshakes, 1);
        assert_int_equal(tls_server_stats(pair.server)->handshakes_failed, 0);
        pair_deinit(&pair);
    }
}

static void first_bytes_select_without_alpn(void **state)
{
    static const struct {
        const char *first;
        const char *opened; /* NULL: the connection is ended */
    } cases[] = {{"2.0 and more", "h2"}, {"abc", "http/1.1"}, {"ABC", NULL}};
    const struct pair_setup setup = {.alpn = ""};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pair pair;

        pair_init(&pair, &pair_certs, PAIR_MODE(state), &setup);
        pair_run(&pair);
        assert_null(pair.opened);
        if (cases[i].opened != NULL) {
            expect_echo(&pair, cases[i].first);
            assert_string_equal(pair.opened, cases[i].opened);
            expect_echo(&pair, "more");
        } else {
            pair_send(&pair, slice_text(cases[i].first));
            pair_run(&pair);
            assert_null(pair.session);
            assert_int_equal(pair.client_step, TLS_STEP_ENDED);
        }
        pair_deinit(&pair);
    }
}

static void first_bytes_may_come_one_by_one(void **state)
{
    const struct pair_setup setup = {.alpn = ""};
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), &setup);
    pair_run(&pair);
    pair_send(&pair, SLICE("2"));
    pair_run(&pair);
    pair_send(&pair, SLICE("."));
    pair_run(&pair);
    assert_null(pair.opened);
    assert_int_equal(pair.got.size, 0);
    pair_send(&pair, SLICE("0"));
    pair_run(&pair);
    assert_string_equal(pair.opened, "h2");
    assert_int_equal(pair.got.size, 3);
    assert_memory_equal(pair.got.data, "2.0", 3);
    pair_deinit(&pair);
}

/* Runs a handshake that fails; checks the reason of the side that refused it. */
static void expect_refused(const struct pair_setup *setup, bool bytewise, const char *client_reason,
                           const char *server_reason)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, bytewise, setup);
    pair_run(&pair);
    assert_int_equal(pair.client_step, TLS_STEP_FAILED);
    assert_null(pair.session);
    assert_null(pair.opened);
    assert_int_equal(tls_server_stats(pair.server)->handshakes, 0);
    assert_int_equal(tls_server_stats(pair.server)->handshakes_failed, 1);
    assert_non_null(strstr(tls_stream_reason(pair.client), client_reason));
    assert_non_null(strstr(tls_server_stats(pair.server)->failure, server_reason));
    assert_non_null(strstr(tls_server_stats(pair.server)->failure, "192.0.2.1:1: "));
    pair_deinit(&pair);
}

static void refused_handshakes_have_their_reasons(void **state)
{
    const struct {
        struct pair_setup setup;
        const char *client_reason;
        const char *server_reason;
    } cases[] = {
        {{.alpn = "\6spdy/1"}, "no application protocol", "no application protocol"},
        {{.host = "other.test"}, "ostname mismatch", "alert"},
        {{.host = "127.0.0.2"}, "IP address mismatch", "alert"},
        {{.client_ca = pair_certs.other_ca}, "unable to get local issuer", "alert unknown ca"},
        {{.cert = pair_certs.expired}, "certificate has expired", "alert certificate expired"},
        {{.server_ca = pair_certs.ca},
         "alert certificate required",
         "did not return a certificate"},
        {{.server_ca = pair_certs.other_ca,
          .client_cert = pair_certs.client_cert,
          .client_key = pair_certs.client_key},
         "alert unknown ca",
         "unable to get local issuer"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_refused(&cases[i].setup, PAIR_MODE(state), cases[i].client_reason,
                       cases[i].server_reason);
    }
}

static void accepted_names_and_client_certificates(void **state)
{
    const struct pair_setup setups[] = {
        {.host = "127.0.0.1"},
        {.host = TEST_CERTS_HOST},
        {.server_ca = pair_certs.ca,
         .client_cert = pair_certs.client_cert,
         .client_key = pair_certs.client_key},
    };

    for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
        struct pair pair;

        pair_init(&pair, &pair_certs, PAIR_MODE(state), &setups[i]);
        pair_run(&pair);
        expect_echo(&pair, "hello");
        pair_deinit(&pair);
    }
}

static void garbage_ends_the_connection(void **state)
{
    static const char record[] = "\x16\x03\x01\x00\x05GARBAGE and more of it";
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair.to_server.size = 0; /* instead of the client's */
    pair_send_raw(&pair, slice_of(record, sizeof(record) - 1));
    pair_run(&pair);
    assert_null(pair.session);
    assert_int_equal(tls_server_stats(pair.server)->handshakes_failed, 1);
    pair_deinit(&pair);
}

static void slow_handshakes_expire(void **state)
{
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair.to_server.size = 100; /* a part of the first message */
    pair_run(&pair);
    pair_pass(&pair, TLS_HANDSHAKE_DEADLINE_US - 1);
    assert_non_null(pair.session);
    assert_int_equal(pair.table.idle_since_us(pair.session), 1);
    pair_pass(&pair, 1);
    assert_null(pair.session);
    assert_int_equal(pair.wakes, 1);
    assert_int_equal(tls_server_stats(pair.server)->handshakes_expired, 1);
    pair_deinit(&pair);
}

static void silence_after_a_handshake_expires_without_a_protocol(void **state)
{
    const struct pair_setup setup = {.alpn = ""};
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), &setup);
    pair_run(&pair);
    pair_pass(&pair, TLS_HANDSHAKE_DEADLINE_US);
    assert_null(pair.session);
    assert_int_equal(tls_server_stats(pair.server)->handshakes_expired, 0);
    pair_deinit(&pair);
}

static void sessions_are_resumed_until_the_context_is_replaced(void **state)
{
    const struct tls_files files = {.cert = pair_certs.cert, .key = pair_certs.key};
    struct tls_context *context = NULL;
    SSL_SESSION *ticket = NULL;
    struct arena arena;
    struct fault fault;
    struct pair pair;

    arena_init(&arena, 65536);
    fault_init(&fault, &arena);
    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    pair_run(&pair);
    ticket = SSL_get1_session(pair.client->ssl);
    assert_int_equal(SSL_SESSION_is_resumable(ticket), 1);
    for (uint64_t resumed = 1; resumed <= 2; resumed++) {
        tls_stream_end(pair.client); /* without it, OpenSSL does not resume the session */
        pair_connect_again(&pair);
        tls_stream_free(pair.client);
        assert_int_equal(tls_stream_new(pair.client_context, TEST_CERTS_HOST, &pair.client), OK);
        assert_int_equal(SSL_set_session(pair.client->ssl, ticket), 1);
        pair.to_server.size = 0;
        assert_int_equal(tls_stream_shake(pair.client), TLS_STEP_MORE);
        pair_run(&pair);
        assert_true(pair.shaken);
        expect_echo(&pair, "hello");
        assert_true(tls_stream_resumed(pair.client) == (resumed == 1));
        assert_int_equal(tls_server_stats(pair.server)->handshakes_resumed, 1);
        assert_int_equal(tls_context_new_server(&files, &fault, &context), OK);
        tls_server_replace_context(pair.server, context);
    }
    SSL_SESSION_free(ticket);
    pair_deinit(&pair);
    arena_deinit(&arena);
}

/* Fails the `nth` fault point that is reached. */
struct nth_driver {
    struct fault_driver driver;
    unsigned nth;
    unsigned reached;
};

static bool fails_nth(struct fault_driver *driver, const char *name)
{
    struct nth_driver *nth = (struct nth_driver *)driver;

    if (strncmp(name, "tls.", 4) != 0) {
        return false;
    }
    nth->reached++;
    return nth->reached == nth->nth;
}

/* Goal: a lack of memory at any step ends one connection, and the next one works. Method: the points that a
 * handshake reaches on the server's side fail one after the other. */
static void each_step_may_lack_memory(void **state)
{
    struct nth_driver nth = {.driver = {fails_nth}};
    unsigned points = 0;
    struct pair pair;

    pair_init(&pair, &pair_certs, PAIR_MODE(state), NULL);
    do {
        nth.nth++;
        nth.reached = 0;
        pair_connect_again_with(&pair, &nth.driver);
        points = nth.reached;
        if (nth.reached >= nth.nth) {
            assert_null(pair.session);
            assert_false(pair.shaken && pair.echo != NULL);
        }
    } while (nth.reached >= nth.nth);
    assert_in_range(points, 3, 20); /* the session, its stream, its output */
    assert_true(pair.shaken);
    expect_echo(&pair, "hello");
    pair_deinit(&pair);
}

int run_handshake_tests(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(alpn_selects_the_protocol),
        PAIR_TEST(first_bytes_select_without_alpn),
        PAIR_TEST(first_bytes_may_come_one_by_one),
        PAIR_TEST(refused_handshakes_have_their_reasons),
        PAIR_TEST(accepted_names_and_client_certificates),
        PAIR_TEST(garbage_ends_the_connection),
        PAIR_TEST(slow_handshakes_expire),
        PAIR_TEST(silence_after_a_handshake_expires_without_a_protocol),
        PAIR_TEST(sessions_are_resumed_until_the_context_is_replaced),
        PAIR_TEST(each_step_may_lack_memory),
    };

    return cmocka_run_group_tests_name("handshakes", tests, NULL, NULL);
}
