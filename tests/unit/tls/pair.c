/*
 * pair.c: see pair.h.
 */
#include "tests/unit/tls/pair.h"

#include "server/tls/stream/tls_context_internal.h"
#include "store/base/fault_point.h"

#include <openssl/ssl.h>
#include <stdlib.h>

/* Maximum turns after which both sides must be silent. */
#define TURNS_MAX 100000
/* Room that net offers at least. */
#define ROOM_BYTES ((size_t)NET_ROOM_BYTES_MIN)

struct test_certs pair_certs;
bool pair_modes[2] = {false, true};

static void bytes_init(struct pair_bytes *bytes)
{
    bytes->data = malloc(PAIR_BYTES_MAX);
    bytes->size = 0;
    assert_non_null(bytes->data);
}

static void bytes_append(struct pair_bytes *bytes, struct slice more)
{
    assert_true(more.size <= PAIR_BYTES_MAX - bytes->size);
    if (more.size > 0) {
        memcpy(bytes->data + bytes->size, more.data, more.size);
    }
    bytes->size += more.size;
}

static void bytes_drop(struct pair_bytes *bytes, size_t count)
{
    memmove(bytes->data, bytes->data + count, bytes->size - count);
    bytes->size -= count;
}

/* --- the protocol over TLS --- */

static enum net_match match_h2(struct slice first_bytes)
{
    return first_bytes.data[0] != '2'     ? NET_MATCH_NO
           : first_bytes.size < (size_t)3 ? NET_MATCH_MORE
                                          : NET_MATCH_YES;
}

static enum net_match match_letters(struct slice first_bytes)
{
    return first_bytes.data[0] >= 'a' ? NET_MATCH_YES : NET_MATCH_NO;
}

static enum err echo_open(struct pair *pair, const char *name, struct net_link *link,
                          void **ret_session)
{
    struct pair_session *echo = NULL;

    pair->opened = name;
    if (pair->open_fails) {
        return ERR_MEMORY;
    }
    echo = calloc(1, sizeof(*echo));
    assert_non_null(echo);
    bytes_init(&echo->echo);
    echo->link = link;
    pair->echo = echo;
    *ret_session = echo;
    return OK;
}

static enum err open_h2(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    (void)now_us;
    return echo_open(user, "h2", link, ret_session);
}

static enum err open_http1(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    (void)now_us;
    return echo_open(user, "http/1.1", link, ret_session);
}

/* The only pair: the other functions of the protocol's table take no user data. */
static struct pair *the_pair;

static size_t echo_feed(void *user, struct slice bytes, int64_t now_us)
{
    struct pair_session *echo = user;
    size_t step = the_pair->step > 0 && the_pair->step < bytes.size ? the_pair->step : bytes.size;

    (void)now_us;
    assert_true(bytes.size > 0);
    bytes_append(&echo->echo, slice_of(bytes.data, step));
    echo->done = echo->done || memchr(bytes.data, '!', step) != NULL;
    return step;
}

static size_t echo_drain(void *user, uint8_t *to, size_t size)
{
    struct pair_session *echo = user;
    size_t left = echo->echo.size - echo->echoed;
    size_t step = left < size ? left : size;

    assert_true(size >= NET_DRAIN_BYTES_MIN);
    memcpy(to, echo->echo.data + echo->echoed, step);
    echo->echoed += step;
    return step;
}

static void echo_tick(void *user, int64_t now_us)
{
    struct pair_session *echo = user;

    (void)now_us;
    echo->ticks++;
}

static void echo_shutdown(void *user, int64_t now_us)
{
    struct pair_session *echo = user;

    (void)now_us;
    echo->done = true;
    echo->link->wake(echo->link);
}

static bool echo_finished(const void *user)
{
    const struct pair_session *echo = user;

    return (echo->done || echo->peer_ended) && echo->echoed == echo->echo.size;
}

static bool echo_peer_ended(void *user)
{
    struct pair_session *echo = user;

    echo->peer_ended = true;
    return the_pair->half_closes;
}

static void echo_close(void *user)
{
    struct pair_session *echo = user;

    the_pair->echo = NULL;
    free(echo->echo.data);
    free(echo);
}

static struct net_protocol echo_protocol(struct pair *pair, bool is_h2)
{
    return (struct net_protocol){
        .user = pair,
        .match = is_h2 ? match_h2 : match_letters,
        .open = is_h2 ? open_h2 : open_http1,
        .feed = echo_feed,
        .drain = echo_drain,
        .tick = echo_tick,
        .shutdown = echo_shutdown,
        .finished = echo_finished,
        .peer_ended = echo_peer_ended,
        .close = echo_close,
    };
}

/* --- the server's side, as net drives it --- */

static void on_wake(struct net_link *link)
{
    (void)link;
    the_pair->wakes++;
}

static void server_open(struct pair *pair)
{
    fault_point_set_driver(pair->faults);
    pair->link = (struct net_link){.wake = on_wake, .peer = SLICE("192.0.2.1:1")};
    if (pair->table.open(pair->table.user, &pair->link, pair->now_us, &pair->session) != OK) {
        pair->session = NULL;
    }
    fault_point_set_driver(NULL);
}

static void server_close(struct pair *pair)
{
    if (pair->session != NULL) {
        pair->table.close(pair->session);
        pair->session = NULL;
    }
}

/* Drains until the session leaves room. */
static void server_drain(struct pair *pair)
{
    uint8_t room[ROOM_BYTES];
    size_t size = ROOM_BYTES;

    while (pair->session != NULL && sizeof(room) - size < NET_ROOM_BYTES_MIN) {
        size = pair->table.drain(pair->session, room, sizeof(room));
        bytes_append(&pair->to_client, slice_of(room, size));
        if (size == 0) {
            break;
        }
    }
    if (pair->session != NULL && pair->table.finished(pair->session)) {
        server_close(pair);
    }
}

static void server_feed(struct pair *pair)
{
    while (pair->session != NULL && (pair->to_server.size > 0 || pair->link.holds_input)) {
        size_t size = pair->bytewise && pair->to_server.size > 0 ? 1 : pair->to_server.size;
        bool held = pair->link.holds_input;
        size_t taken =
            pair->table.feed(pair->session, slice_of(pair->to_server.data, size), pair->now_us);

        assert_true(taken > 0 || held);
        bytes_drop(&pair->to_server, taken);
        server_drain(pair);
    }
}

/* --- the client's side --- */

static void client_drain(struct pair *pair)
{
    uint8_t room[4096];
    size_t size = sizeof(room);

    while (size == sizeof(room)) {
        size = tls_stream_drain(pair->client, room, sizeof(room));
        bytes_append(&pair->to_server, slice_of(room, size));
    }
}

static void client_step(struct pair *pair)
{
    uint8_t plain[TLS_RECORD_BYTES_MAX];
    size_t size = 0;

    if (!pair->shaken) {
        pair->client_step = tls_stream_shake(pair->client);
        pair->shaken = pair->client_step == TLS_STEP_DONE;
        return;
    }
    pair->client_step = tls_stream_peek(pair->client, plain, sizeof(plain), &size);
    if (pair->client_step == TLS_STEP_DONE) {
        bytes_append(&pair->got, slice_of(plain, size));
        tls_stream_take(pair->client, plain, size);
    }
}

static void client_feed(struct pair *pair)
{
    while (pair->to_client.size > 0 && pair->client_step != TLS_STEP_FAILED) {
        size_t size = pair->bytewise ? 1 : pair->to_client.size;
        size_t taken = tls_stream_lend(pair->client, slice_of(pair->to_client.data, size));

        client_step(pair);
        assert_true(taken > 0);
        bytes_drop(&pair->to_client, taken);
    }
    client_drain(pair);
}

void pair_run(struct pair *pair)
{
    for (int turn = 0; turn < TURNS_MAX; turn++) {
        fault_point_set_driver(pair->faults);
        server_feed(pair);
        server_drain(pair);
        fault_point_set_driver(NULL);
        client_feed(pair);
        if (pair->session == NULL) {
            pair->to_server.size = 0;
        }
        if (pair->client_step == TLS_STEP_FAILED) {
            pair->to_client.size = 0;
        }
        if (pair->to_server.size == 0 && pair->to_client.size == 0) {
            return;
        }
    }
    fail_msg("the two sides never became silent");
}

void pair_send(struct pair *pair, struct slice plain)
{
    uint8_t *room = malloc(PAIR_BYTES_MAX);

    assert_non_null(room);
    assert_true(pair->shaken);
    bytes_append(&pair->to_server,
                 slice_of(room, tls_stream_write(pair->client, plain, room, PAIR_BYTES_MAX)));
    free(room);
}

void pair_send_raw(struct pair *pair, struct slice bytes)
{
    bytes_append(&pair->to_server, bytes);
}

void pair_pass(struct pair *pair, int64_t by_us)
{
    pair->now_us += by_us;
    if (pair->session != NULL) {
        pair->table.tick(pair->session, pair->now_us);
        server_drain(pair);
    }
}

/* --- both sides --- */

static void make_server(struct pair *pair, const struct pair_setup *setup)
{
    const struct tls_protocol protocols[] = {{"h2", echo_protocol(pair, true)},
                                             {"http/1.1", echo_protocol(pair, false)}};
    const struct tls_files files = {.cert = setup->cert != NULL ? setup->cert : pair->certs->cert,
                                    .key = pair->certs->key,
                                    .ca = setup->server_ca};
    struct tls_context *context = NULL;
    struct arena arena;
    struct fault fault;

    arena_init(&arena, 65536);
    fault_init(&fault, &arena);
    assert_int_equal(tls_context_new_server(&files, &fault, &context), OK);
    assert_int_equal(tls_server_new(protocols, 2, context, &pair->server), OK);
    pair->table = tls_server_protocol(pair->server);
    arena_deinit(&arena);
}

static void make_client(struct pair *pair, const struct pair_setup *setup)
{
    const struct tls_files files = {.cert = setup->client_cert,
                                    .key = setup->client_key,
                                    .ca = setup->client_ca != NULL ? setup->client_ca
                                                                   : pair->certs->ca};
    struct arena arena;
    struct fault fault;

    arena_init(&arena, 65536);
    fault_init(&fault, &arena);
    assert_int_equal(tls_context_new_client(&files, &fault, &pair->client_context), OK);
    if (setup->alpn != NULL) {
        assert_int_equal(SSL_CTX_set_alpn_protos(pair->client_context->ssl,
                                                 (const unsigned char *)setup->alpn,
                                                 (unsigned)strlen(setup->alpn)),
                         0);
    }
    assert_int_equal(tls_stream_new(pair->client_context,
                                    setup->host != NULL ? setup->host : TEST_CERTS_HOST,
                                    &pair->client),
                     OK);
    arena_deinit(&arena);
}

static void client_begin(struct pair *pair)
{
    pair->client_step = tls_stream_shake(pair->client);
    assert_int_equal(pair->client_step, TLS_STEP_MORE);
    client_drain(pair);
}

void pair_init(struct pair *pair, struct test_certs *certs, bool bytewise,
               const struct pair_setup *setup)
{
    static const struct pair_setup usual = {.cert = NULL};

    *pair = (struct pair){.bytewise = bytewise, .certs = certs, .now_us = 1};
    the_pair = pair;
    setup = setup != NULL ? setup : &usual;
    bytes_init(&pair->to_server);
    bytes_init(&pair->to_client);
    bytes_init(&pair->got);
    make_server(pair, setup);
    make_client(pair, setup);
    client_begin(pair);
    server_open(pair);
}

void pair_connect_again(struct pair *pair)
{
    server_close(pair);
    tls_stream_free(pair->client);
    pair->client = NULL;
    pair->to_server.size = 0;
    pair->to_client.size = 0;
    pair->got.size = 0;
    pair->shaken = false;
    pair->opened = NULL;
    assert_int_equal(tls_stream_new(pair->client_context, TEST_CERTS_HOST, &pair->client), OK);
    client_begin(pair);
    server_open(pair);
}

void pair_connect_again_with(struct pair *pair, struct fault_driver *driver)
{
    pair->faults = driver;
    pair_connect_again(pair);
    pair_run(pair);
    pair->faults = NULL;
}

void pair_deinit(struct pair *pair)
{
    server_close(pair);
    assert_null(pair->echo);
    tls_stream_free(pair->client);
    tls_context_unref(pair->client_context);
    tls_server_free(pair->server);
    free(pair->to_server.data);
    free(pair->to_client.data);
    free(pair->got.data);
}
