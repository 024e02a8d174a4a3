/*
 * peer.c: see peer.h.
 */
#include "tests/unit/client/peer.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

static size_t make_fields(peer_fields texts, nghttp2_nv *fields)
{
    size_t count = 0;

    for (; texts != NULL && texts[0] != NULL; texts += 2) {
        assert_true(count < PEER_FIELDS_MAX);
        fields[count++] =
            (nghttp2_nv){(uint8_t *)(uintptr_t)texts[0], (uint8_t *)(uintptr_t)texts[1],
                         strlen(texts[0]), strlen(texts[1]), NGHTTP2_NV_FLAG_NONE};
    }
    return count;
}

static ssize_t on_read_body(nghttp2_session *http2, int32_t stream_id, uint8_t *bytes,
                            size_t capacity, uint32_t *flags, nghttp2_data_source *source,
                            void *user)
{
    struct peer *peer = user;
    nghttp2_nv fields[PEER_FIELDS_MAX];
    size_t left = peer->script.body.size - peer->body_sent;
    size_t size = left < capacity ? left : capacity;

    (void)source;
    if (size > 0) {
        memcpy(bytes, peer->script.body.data + peer->body_sent, size);
    }
    peer->body_sent += size;
    if (peer->body_sent == peer->script.body.size) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (peer->script.trailers != NULL) {
            size_t count = make_fields(peer->script.trailers, fields);

            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            assert_int_equal(nghttp2_submit_trailer(http2, stream_id, fields, count), 0);
        }
    }
    return (ssize_t)size;
}

static void answer(struct peer *peer, int32_t stream_id)
{
    nghttp2_data_provider body = {.read_callback = on_read_body};
    nghttp2_nv fields[PEER_FIELDS_MAX];
    bool headers_only = peer->script.body.size == 0 && peer->script.trailers == NULL;
    size_t count = make_fields(peer->script.headers, fields);

    if (peer->script.silent || peer->answered_stream == stream_id) {
        return;
    }
    peer->answered_stream = stream_id;
    peer->body_sent = 0;
    if (peer->script.leaves) {
        peer_goaway(peer, stream_id);
    }
    if (peer->script.reset != 0) {
        assert_int_equal(nghttp2_submit_rst_stream(peer->http2, 0, stream_id, peer->script.reset),
                         0);
        return;
    }
    assert_int_equal(
        nghttp2_submit_response(peer->http2, stream_id, fields, count, headers_only ? NULL : &body),
        0);
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags,
                     void *user)
{
    struct peer *peer = user;
    size_t room = sizeof(peer->request_fields) - peer->request_fields_bytes;
    int size = snprintf(peer->request_fields + peer->request_fields_bytes, room, "%.*s: %.*s\n",
                        (int)name_bytes, (const char *)name, (int)value_bytes, (const char *)value);

    (void)http2;
    (void)frame;
    (void)flags;
    assert_true(size > 0 && (size_t)size < room);
    peer->request_fields_bytes += (size_t)size;
    return 0;
}

static int on_data(nghttp2_session *http2, uint8_t flags, int32_t stream_id, const uint8_t *data,
                   size_t size, void *user)
{
    struct peer *peer = user;

    (void)http2;
    (void)flags;
    (void)stream_id;
    if (peer->request_bytes + size <= sizeof(peer->request)) {
        memcpy(peer->request + peer->request_bytes, data, size);
    }
    peer->request_bytes += size;
    peer->unread_bytes += size;
    return 0;
}

static int on_frame(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
    struct peer *peer = user;
    bool request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;

    (void)http2;
    peer->requests += frame->hd.type == NGHTTP2_HEADERS;
    peer->pings += frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0;
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
        peer->reset_by_client = frame->rst_stream.error_code;
        peer->resets_by_client++;
    }
    if (request && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        peer->request_ended = true;
        answer(peer, frame->hd.stream_id);
    } else if (request && peer->script.early && peer->request_bytes >= peer->script.early_bytes) {
        answer(peer, frame->hd.stream_id);
    }
    return 0;
}

/* Sends the SETTINGS of the peer. */
static void peer_greet(struct peer *peer)
{
    nghttp2_settings_entry settings[2];
    size_t count = 0;

    if (peer->script.streams_max != 0) {
        settings[count++] = (nghttp2_settings_entry){NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                                     peer->script.streams_max};
    }
    if (peer->script.window_bytes != 0) {
        settings[count++] = (nghttp2_settings_entry){NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                                     (uint32_t)peer->script.window_bytes};
    }
    assert_int_equal(nghttp2_submit_settings(peer->http2, 0, settings, count), 0);
    if (peer->script.window_bytes != 0) {
        assert_int_equal(nghttp2_session_set_local_window_size(peer->http2, 0, 0,
                                                               (int32_t)peer->script.window_bytes),
                         0);
    }
}

struct peer *peer_new(const struct peer_script *script, size_t step)
{
    const struct client_session_config config = {.authority = SLICE("test:1"),
                                                 .token = SLICE("errata_0_secret"),
                                                 .user_agent = SLICE("tests"),
                                                 .reply_bytes_max = 500000,
                                                 .request_bytes_max = PEER_BODY_BYTES_MAX,
                                                 .keepalive_ms = script->keepalive_ms,
                                                 .keepalive_timeout_ms =
                                                     script->keepalive_timeout_ms};
    struct peer *peer = calloc(1, sizeof(*peer));
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;

    assert_non_null(peer);
    peer->script = *script;
    peer->step = step;
    assert_int_equal(client_session_new(&config, &peer->session), OK);
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    assert_int_equal(nghttp2_option_new(&option), 0);
    nghttp2_option_set_no_auto_window_update(option, script->stops_reading);
    assert_int_equal(nghttp2_session_server_new2(&peer->http2, callbacks, peer, option), 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    peer_greet(peer);
    return peer;
}

void peer_free(struct peer *peer)
{
    client_session_end_all(peer->session, 1, "the test is over");
    client_session_fail(peer->session, 1, "the test is over");
    client_session_report(peer->session);
    client_session_free(peer->session);
    nghttp2_session_del(peer->http2);
    free(peer);
}

static bool client_to_peer(struct peer *peer)
{
    uint8_t bytes[4096];
    size_t capacity = peer->step < sizeof(bytes) ? peer->step : sizeof(bytes);
    size_t size = client_session_drain(peer->session, bytes, capacity);

    if (size > 0) {
        assert_int_equal(nghttp2_session_mem_recv(peer->http2, bytes, size), size);
    }
    return size > 0;
}

static bool peer_to_client(struct peer *peer)
{
    const uint8_t *bytes = NULL;
    ssize_t size = nghttp2_session_mem_send(peer->http2, &bytes);
    size_t left = size > 0 ? (size_t)size : 0;

    while (left > 0) {
        size_t piece = left < peer->step ? left : peer->step;

        assert_int_equal(client_session_feed(peer->session, slice_of(bytes, piece)), OK);
        bytes += piece;
        left -= piece;
    }
    return size > 0;
}

void peer_pump(struct peer *peer)
{
    bool moved = true;

    while (moved) {
        moved = client_to_peer(peer);
        moved = (!peer->mute && peer_to_client(peer)) || moved;
        client_session_report(peer->session);
    }
}

void peer_read(struct peer *peer, int32_t stream_id)
{
    assert_int_equal(nghttp2_session_consume(peer->http2, stream_id, peer->unread_bytes), 0);
    peer->unread_bytes = 0;
}

static void send_all(int connection, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(connection, bytes, size, MSG_NOSIGNAL);

        if (sent <= 0) {
            return; /* the peer closed the connection: recv reports it too */
        }
        bytes += sent;
        size -= (size_t)sent;
    }
}

/* Waits until the other side closes the connection, without reading from it. */
static void wait_for_close(int connection)
{
    struct pollfd place = {.fd = connection, .events = POLLRDHUP};

    assert_int_equal(poll(&place, 1, -1), 1);
}

void peer_serve(struct peer *peer, int connection)
{
    uint8_t bytes[65536];
    ssize_t size = 1;

    while (size > 0) {
        if (peer->script.trouble == PEER_FREEZES && peer->requests > 0) {
            wait_for_close(connection);
            return;
        }
        if (peer->script.trouble == PEER_HANGS_UP && peer->request_ended) {
            return;
        }
        const uint8_t *made = NULL;
        ssize_t made_bytes = nghttp2_session_mem_send(peer->http2, &made);

        if (made_bytes > 0) {
            send_all(connection, made, (size_t)made_bytes);
            continue;
        }
        size = recv(connection, bytes, sizeof(bytes), 0);
        if (size > 0) {
            assert_int_equal(nghttp2_session_mem_recv(peer->http2, bytes, (size_t)size), size);
        }
    }
}

void peer_goaway(struct peer *peer, int32_t last_stream_id)
{
    assert_int_equal(
        nghttp2_submit_goaway(peer->http2, 0, last_stream_id, NGHTTP2_NO_ERROR, NULL, 0), 0);
}
