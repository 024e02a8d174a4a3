/*
 * tls_session.c: one TLS connection: implements net's protocol table, and uses that of the protocol
 * which ALPN selects. A step handles one record, so that net may stop after each, as it may after each
 * request of a session; plain bytes that the session has not taken stay in OpenSSL's record.
 */
#include "server/tls/tls_internal.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdio.h>
#include <stdlib.h>

/* The first byte of a TLS connection: a record of a handshake. */
#define HANDSHAKE_RECORD 22
#define SECOND_US INT64_C(1000000)

static void on_inner_wake(struct net_link *link)
{
    struct tls_session *session = (struct tls_session *)link;

    session->link->wake(session->link);
}

/* Passes requests of the inner session on to its connection. */
static void session_note(struct tls_session *session)
{
    session->link->paused = session->inner.paused;
    session->link->holds_input = session->state != TLS_ENDED && !session->peer_ended &&
                                 tls_stream_holds_input(session->stream);
}

/* Ends the connection once waiting output has been drained. */
static void session_end(struct tls_session *session)
{
    tls_stream_end(session->stream);
    session->state = TLS_ENDED;
    session->link->holds_input = false;
}

static void session_note_failure(struct tls_session *session)
{
    struct tls_stats *stats = &session->server->stats;

    stats->handshakes_failed++;
    (void)snprintf(stats->failure, sizeof(stats->failure), "%.*s: %s",
                   (int)session->link->peer.size, (const char *)session->link->peer.data,
                   tls_stream_reason(session->stream));
}

/* Opens the session of the protocol. */
static void session_start(struct tls_session *session, const struct net_protocol *protocol,
                          int64_t now_us)
{
    session->inner.hurried = session->link->hurried;
    if (protocol->open(protocol->user, &session->inner, now_us, &session->session) != OK) {
        session->session = NULL;
        session_end(session);
        return;
    }
    session->protocol = protocol;
    session->state = TLS_OPEN;
}

/* Selects the protocol by ALPN; without it, the first bytes select it. */
static void session_choose(struct tls_session *session, int64_t now_us)
{
    struct tls_server *server = session->server;
    struct slice name = tls_stream_protocol(session->stream);

    session->state = TLS_MATCHING;
    for (size_t i = 0; i < server->protocol_count && name.size > 0; i++) {
        if (slice_equal(name, slice_text(server->protocols[i].name))) {
            session_start(session, &server->protocols[i].protocol, now_us);
            return;
        }
    }
}

static void session_shake(struct tls_session *session, int64_t now_us)
{
    struct tls_stats *stats = &session->server->stats;

    switch (tls_stream_shake(session->stream)) {
    case TLS_STEP_DONE:
        stats->handshakes++;
        stats->handshakes_resumed += tls_stream_resumed(session->stream) ? 1 : 0;
        session_choose(session, now_us);
        return;
    case TLS_STEP_MORE:
        return;
    case TLS_STEP_ENDED:
    case TLS_STEP_FAILED:
        session_note_failure(session);
        session_end(session);
        return;
    }
}

static size_t session_feed(struct tls_session *session, struct slice plain, int64_t now_us)
{
    size_t taken = 0;

    session->inner.hurried = session->link->hurried;
    taken = session->protocol->feed(session->session, plain, now_us);
    ASSERT(taken > 0);
    ASSERT(taken <= plain.size);
    return taken;
}

/* Feeds the bytes that selected the protocol: less than one request, so its output stays small. */
static void session_feed_first(struct tls_session *session, int64_t now_us)
{
    struct slice first = slice_of(session->first_bytes, session->first_count);

    while (session->state == TLS_OPEN && first.size > 0) {
        first = slice_after(first, session_feed(session, first, now_us));
    }
}

/* Collects first bytes until one protocol matches, or none can. Returns how many it took. */
static size_t session_match(struct tls_session *session, struct slice plain, int64_t now_us)
{
    struct tls_server *server = session->server;
    size_t room = sizeof(session->first_bytes) - session->first_count;
    size_t step = plain.size < room ? plain.size : room;
    enum net_match match = NET_MATCH_NO;
    size_t at = 0;

    memcpy(session->first_bytes + session->first_count, plain.data, step);
    session->first_count += step;
    for (size_t i = 0; i < server->protocol_count && match == NET_MATCH_NO; i++) {
        at = i;
        match = server->protocols[i].protocol.match(
            slice_of(session->first_bytes, session->first_count));
    }
    if (match == NET_MATCH_YES) {
        session_start(session, &server->protocols[at].protocol, now_us);
        session_feed_first(session, now_us);
    } else if (match == NET_MATCH_NO || session->first_count == sizeof(session->first_bytes)) {
        session_end(session);
    }
    return step;
}

/* Called when the peer sends nothing more. */
static void session_note_peer_ended(struct tls_session *session)
{
    if (session->peer_ended) {
        return;
    }
    session->peer_ended = true;
    session->goes_on = session->state == TLS_OPEN && session->protocol->peer_ended != NULL &&
                       session->protocol->peer_ended(session->session);
    if (!session->goes_on) {
        session_end(session);
    }
}

/* Counts a record without plain bytes. Ends a connection that sends many of them. */
static void session_count_empty(struct tls_session *session, int64_t now_us)
{
    int64_t more = (now_us - session->empty_refilled_us) * TLS_EMPTY_RECORDS_PER_SECOND / SECOND_US;

    if (more > 0) {
        session->empty_left = session->empty_left + more < TLS_EMPTY_RECORDS_BURST
                                  ? session->empty_left + more
                                  : TLS_EMPTY_RECORDS_BURST;
        session->empty_refilled_us = now_us;
    }
    session->empty_left--;
    if (session->empty_left < 0) {
        session->link->rate_limited = true;
        session_end(session);
    }
}

/* Decrypts one record, or continues with its rest, and feeds the session. */
static void session_read(struct tls_session *session, int64_t now_us)
{
    uint8_t *plain = session->server->plain;
    size_t size = 0;
    size_t taken = 0;

    switch (tls_stream_peek(session->stream, plain, TLS_RECORD_BYTES_MAX, &size)) {
    case TLS_STEP_DONE:
        taken = session->state == TLS_MATCHING
                    ? session_match(session, slice_of(plain, size), now_us)
                    : session_feed(session, slice_of(plain, size), now_us);
        if (session->state != TLS_ENDED) {
            tls_stream_take(session->stream, plain, taken);
        }
        return;
    case TLS_STEP_MORE:
        if (tls_stream_record_ended(session->stream)) {
            session_count_empty(session, now_us);
        }
        return;
    case TLS_STEP_ENDED:
        session_note_peer_ended(session);
        return;
    case TLS_STEP_FAILED:
        session_end(session);
        return;
    }
}

static size_t tls_feed(void *user, struct slice bytes, int64_t now_us)
{
    struct tls_session *session = user;
    size_t taken = 0;

    if (session->state == TLS_ENDED || session->peer_ended) {
        return bytes.size;
    }
    if (!tls_stream_holds_input(session->stream)) {
        taken = tls_stream_lend(session->stream, bytes);
    }
    if (session->state == TLS_SHAKING) {
        session_shake(session, now_us);
    } else {
        session_read(session, now_us);
    }
    session_note(session);
    return taken;
}

/* Returns how many plain bytes surely fit, encrypted, into `room`. */
static size_t plain_room(size_t room)
{
    size_t overhead = (room / TLS_RECORD_BYTES_MAX + 1) * TLS_OVERHEAD_BYTES_MAX;
    size_t plain = room > overhead ? room - overhead : 0;

    return plain < TLS_PLAIN_BYTES ? plain : TLS_PLAIN_BYTES;
}

_Static_assert(NET_ROOM_BYTES_MIN - NET_DRAIN_BYTES_MIN >= 2 * TLS_OVERHEAD_BYTES_MAX,
               "with the least room that net offers, a session has enough of it");

/* Drains the inner session and encrypts its output, as far as there is room. */
static size_t session_drain(struct tls_session *session, uint8_t *to, size_t size)
{
    uint8_t *plain = session->server->plain;
    size_t used = 0;
    size_t drained = 0;
    size_t written = 0;

    for (size_t room = plain_room(size); room >= NET_DRAIN_BYTES_MIN;
         room = plain_room(size - used)) {
        drained = session->protocol->drain(session->session, plain, room);
        written =
            tls_stream_write(session->stream, slice_of(plain, drained), to + used, size - used);
        used += written;
        if (drained > 0 && written == 0) {
            session_end(session);
            break;
        }
        if (room - drained >= NET_DRAIN_BYTES_MIN) {
            break; /* there is no more output */
        }
    }
    return used;
}

static size_t tls_drain(void *user, uint8_t *to, size_t size)
{
    struct tls_session *session = user;
    size_t used = tls_stream_drain(session->stream, to, size);

    if (session->state == TLS_OPEN && !tls_stream_has_output(session->stream)) {
        used += session_drain(session, to + used, size - used);
        if (session->state == TLS_OPEN && session->protocol->finished(session->session)) {
            session_end(session);
        }
        used += tls_stream_drain(session->stream, to + used, size - used);
    }
    session_note(session);
    return used;
}

static void tls_tick(void *user, int64_t now_us)
{
    struct tls_session *session = user;

    switch (session->state) {
    case TLS_SHAKING:
    case TLS_MATCHING:
        if (now_us - session->opened_us >= TLS_HANDSHAKE_DEADLINE_US) {
            session->server->stats.handshakes_expired += session->state == TLS_SHAKING ? 1 : 0;
            session_end(session);
            session->link->wake(session->link);
        }
        return;
    case TLS_OPEN:
        session->protocol->tick(session->session, now_us);
        session_note(session);
        return;
    case TLS_ENDED:
        return;
    }
}

static void tls_shutdown(void *user, int64_t now_us)
{
    struct tls_session *session = user;

    if (session->state == TLS_OPEN) {
        session->protocol->shutdown(session->session, now_us);
        return;
    }
    session_end(session);
    session->link->wake(session->link);
}

static int64_t tls_idle_since_us(const void *user)
{
    const struct tls_session *session = user;

    if (session->state != TLS_OPEN) {
        return session->opened_us;
    }
    return session->protocol->idle_since_us != NULL
               ? session->protocol->idle_since_us(session->session)
               : INT64_MAX;
}

static bool tls_finished(const void *user)
{
    const struct tls_session *session = user;

    return session->state == TLS_ENDED && !tls_stream_has_output(session->stream);
}

static bool tls_peer_ended(void *user)
{
    struct tls_session *session = user;

    session_note_peer_ended(session);
    return session->goes_on;
}

static void tls_close(void *user)
{
    struct tls_session *session = user;

    if (session->session != NULL) {
        session->protocol->close(session->session);
    }
    session->link->rate_limited = session->link->rate_limited || session->inner.rate_limited;
    tls_stream_free(session->stream);
    free(session);
}

static enum net_match tls_match(struct slice first_bytes)
{
    return first_bytes.data[0] == HANDSHAKE_RECORD ? NET_MATCH_YES : NET_MATCH_NO;
}

static enum err tls_open(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    struct tls_server *server = user;
    struct tls_session *session = FAULT("tls.open") ? NULL : calloc(1, sizeof(*session));
    enum err err = OK;

    if (session == NULL) {
        return ERR_MEMORY;
    }
    err = tls_stream_new(server->context, NULL, &session->stream);
    if (err != OK) {
        free(session);
        return err;
    }
    session->server = server;
    session->link = link;
    session->inner.wake = on_inner_wake;
    session->inner.peer = link->peer;
    session->opened_us = now_us;
    session->empty_left = TLS_EMPTY_RECORDS_BURST;
    session->empty_refilled_us = now_us;
    *ret_session = session;
    return OK;
}

struct net_protocol tls_session_table(struct tls_server *server)
{
    return (struct net_protocol){
        .user = server,
        .match = tls_match,
        .open = tls_open,
        .feed = tls_feed,
        .drain = tls_drain,
        .tick = tls_tick,
        .shutdown = tls_shutdown,
        .idle_since_us = tls_idle_since_us,
        .finished = tls_finished,
        .peer_ended = tls_peer_ended,
        .close = tls_close,
    };
}
