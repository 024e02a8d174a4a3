/*
 * fuzz_tls.c: any bytes as what a peer sends to the TLS of the server: in place of a handshake, within one, and after
 * one. The first byte states where they begin, the second how they are cut. For any input the session takes all bytes
 * or ends, its output stays small, nothing but what a real client encrypted reaches the protocol, and nothing is left.
 */
#include "server/tls/stream/tls_stream.h"
#include "server/tls/tls.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/tls/test_certs.h"

#include <stdlib.h>

/* Maximum bytes of a client's first message, more or less: the input begins within it. */
#define FIRST_BYTES_MAX 255
#define TURNS_MAX 64
#define OUTPUT_BYTES_MAX ((size_t)64 * 1024)

/* Made once, since keys are costly. */
static struct test_certs certs;
static struct tls_context *server_context;
static struct tls_context *client_context;

struct peer {
    struct net_protocol table;
    struct net_link link;
    void *session; /* NULL: closed */
    struct tls_stream *client;
    size_t output_bytes;
};

static enum net_match match_any(struct slice first_bytes)
{
    (void)first_bytes;
    return NET_MATCH_YES;
}

static enum err open_any(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    (void)link;
    (void)now_us;
    *ret_session = user;
    return OK;
}

/* No input has the keys of a connection, so none is decrypted. */
static size_t feed_none(void *session, struct slice bytes, int64_t now_us)
{
    (void)session;
    (void)now_us;
    ASSERT(bytes.size == 0);
    return 0;
}

static size_t drain_none(void *session, uint8_t *to, size_t size)
{
    (void)session;
    (void)to;
    (void)size;
    return 0;
}

static void do_nothing(void *session, int64_t now_us)
{
    (void)session;
    (void)now_us;
}

static bool never(const void *session)
{
    (void)session;
    return false;
}

static void close_none(void *session)
{
    (void)session;
}

static void wake_none(struct net_link *link)
{
    (void)link;
}

static void make_contexts(void)
{
    struct arena arena;
    struct fault fault;

    if (server_context != NULL) {
        return;
    }
    arena_init(&arena, 65536);
    fault_init(&fault, &arena);
    test_certs_init(&certs);
    ASSERT(tls_context_new_server(&(struct tls_files){certs.cert, certs.key, certs.ca}, &fault,
                                  &server_context) == OK);
    ASSERT(
        tls_context_new_client(&(struct tls_files){certs.client_cert, certs.client_key, certs.ca},
                               &fault, &client_context) == OK);
    test_certs_deinit(&certs);
    arena_deinit(&arena);
}

/* Drains the server; its output goes to the client, if that takes part. */
static void drain(struct peer *peer, bool to_client)
{
    uint8_t room[NET_ROOM_BYTES_MIN];
    size_t size = peer->table.drain(peer->session, room, sizeof(room));
    struct slice bytes = slice_of(room, size);

    peer->output_bytes += size;
    ASSERT(peer->output_bytes <= OUTPUT_BYTES_MAX);
    for (bool going = true; to_client && going && bytes.size > 0;) {
        bytes = slice_after(bytes, tls_stream_lend(peer->client, bytes));
        going = tls_stream_shake(peer->client) == TLS_STEP_MORE;
    }
    if (peer->table.finished(peer->session)) {
        peer->table.close(peer->session);
        peer->session = NULL;
    }
}

static void feed(struct peer *peer, struct slice bytes, size_t step, bool to_client)
{
    while (peer->session != NULL && bytes.size > 0) {
        size_t size = step < bytes.size ? step : bytes.size;
        size_t taken = peer->table.feed(peer->session, slice_of(bytes.data, size), 1);

        ASSERT(taken > 0);
        ASSERT(taken <= size);
        ASSERT(!peer->link.holds_input);
        bytes = slice_after(bytes, taken);
        drain(peer, to_client);
    }
}

/* Runs a real handshake, until `stop_after` bytes of the client were sent. */
static void shake(struct peer *peer, size_t stop_after)
{
    uint8_t room[4096];
    size_t sent = 0;

    if (tls_stream_shake(peer->client) == TLS_STEP_FAILED) {
        return;
    }
    for (int turn = 0; turn < TURNS_MAX && peer->session != NULL && sent < stop_after; turn++) {
        size_t size = tls_stream_drain(peer->client, room, sizeof(room));

        size = size < stop_after - sent ? size : stop_after - sent;
        if (size == 0) {
            return;
        }
        feed(peer, slice_of(room, size), size, true);
        sent += size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct net_protocol any = {.match = match_any,
                                     .open = open_any,
                                     .feed = feed_none,
                                     .drain = drain_none,
                                     .tick = do_nothing,
                                     .shutdown = do_nothing,
                                     .finished = never,
                                     .close = close_none};
    struct fuzz_input input = fuzz_input_of(data, size);
    uint8_t where = fuzz_take_byte(&input);
    uint8_t step = fuzz_take_byte(&input);
    struct tls_protocol protocol = {"h2", any};
    struct tls_server *server = NULL;
    struct peer peer = {.link = {.wake = wake_none, .peer = SLICE("fuzz")}};

    make_contexts();
    protocol.protocol.user = &peer;
    ASSERT(tls_server_new(&protocol, 1, tls_context_ref(server_context), &server) == OK);
    peer.table = tls_server_protocol(server);
    ASSERT(tls_stream_new(client_context, TEST_CERTS_HOST, &peer.client) == OK);
    ASSERT(peer.table.open(peer.table.user, &peer.link, 0, &peer.session) == OK);
    /* 0: the input begins the connection; 255: it follows a whole handshake; else it is within one. */
    shake(&peer, where == FIRST_BYTES_MAX ? SIZE_MAX : (size_t)where * 8);
    feed(&peer, input.rest, step > 0 ? step : SIZE_MAX, false);
    if (peer.session != NULL) {
        peer.table.tick(peer.session, TLS_HANDSHAKE_DEADLINE_US);
        peer.table.close(peer.session);
    }
    tls_stream_free(peer.client);
    tls_server_free(server);
    return 0;
}
