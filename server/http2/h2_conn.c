/*
 * h2_conn.c: the life of a connection: bytes in, bytes out, settings, deadlines, shutdown and
 * failure.
 */
#include "server/http2/h2_internal.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/fault_point.h"

#include <stdlib.h>

/* Payloads that identify the answers to our own pings. */
#define H2_PING_KEEPALIVE "keepaliv"
#define H2_PING_SHUTDOWN "shutdown"
#define H2_PING_BYTES 8

/* Passed to nghttp2 in place of H2_STREAMS_MAX: see h2_conn_patch_settings. */
#define H2_STREAMS_UNLIMITED 0x7fffffffu

enum err h2_err_of_nghttp2(int code)
{
    if (code == 0) {
        return OK;
    }
    return code == NGHTTP2_ERR_NOMEM ? ERR_MEMORY : ERR_INTERNAL;
}

static enum err h2_options_new(nghttp2_option **ret_options)
{
    nghttp2_option *options = NULL;
    int code = nghttp2_option_new(&options);

    if (code != 0) {
        return h2_err_of_nghttp2(code);
    }
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_option_set_no_closed_streams(options, 1);
    /* gRPC metadata with white space at its ends is unusual, but harmless. */
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(options, 1);
    nghttp2_option_set_max_outbound_ack(options, H2_OUTBOUND_ACKS_MAX);
    nghttp2_option_set_max_settings(options, H2_SETTINGS_MAX);
    /* nghttp2 counts each piece in which a frame header arrives; the guard counts frames. */
    nghttp2_option_set_max_continuations(options, (H2_CONTINUATIONS_MAX + 1) * H2_FRAME_HEAD_BYTES);
    /* The guard's bucket ends a connection earlier, and with a more precise code. */
    nghttp2_option_set_stream_reset_rate_limit(options, 2 * H2_RESETS_BURST,
                                               2 * H2_RESETS_PER_SECOND);
    *ret_options = options;
    return OK;
}

enum err h2_shared_new(const struct h2_handlers *handlers, struct h2_shared **ret_shared)
{
    struct h2_shared *shared = calloc(1, sizeof(*shared));
    enum err err = OK;

    if (shared == NULL) {
        return ERR_MEMORY;
    }
    shared->handlers = handlers;
    h2_memory_init(&shared->memory);
    err = h2_callbacks_new(&shared->callbacks);
    if (err == OK) {
        err = h2_options_new(&shared->options);
    }
    if (err != OK) {
        h2_shared_free(shared);
        return err;
    }
    *ret_shared = shared;
    return OK;
}

const struct h2_stats *h2_shared_stats(const struct h2_shared *shared)
{
    return &shared->stats;
}

void h2_shared_free(struct h2_shared *shared)
{
    if (shared == NULL) {
        return;
    }
    ASSERT(shared->stats.connections_live == 0);
    ASSERT(shared->stats.streams_live == 0);
    while (shared->pool != NULL) {
        struct h2_stream *stream = shared->pool;

        shared->pool = stream->next;
        free(stream);
    }
    nghttp2_option_del(shared->options);
    nghttp2_session_callbacks_del(shared->callbacks);
    h2_memory_deinit(&shared->memory);
    free(shared);
}

static enum err h2_conn_submit_settings(struct h2_conn *conn)
{
    const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, H2_STREAMS_UNLIMITED},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, H2_STREAM_WINDOW_BYTES},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, H2_HEADER_LIST_BYTES_MAX},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    int code = nghttp2_submit_settings(conn->session, NGHTTP2_FLAG_NONE, entries,
                                       sizeof(entries) / sizeof(entries[0]));

    if (code == 0) {
        code = nghttp2_session_set_local_window_size(conn->session, NGHTTP2_FLAG_NONE, 0,
                                                     H2_CONNECTION_WINDOW_BYTES);
    }
    return h2_err_of_nghttp2(code);
}

enum err h2_conn_new(struct h2_shared *shared, void *user, int64_t now_us,
                     struct h2_conn **ret_conn)
{
    struct h2_conn *conn = FAULT("h2.connection") ? NULL : calloc(1, sizeof(*conn));
    enum err err = OK;

    if (conn == NULL) {
        return ERR_MEMORY;
    }
    conn->shared = shared;
    conn->user = user;
    conn->now_us = now_us;
    conn->started_us = now_us;
    conn->ticked_us = now_us;
    conn->idle_since_us = now_us;
    conn->ping_sent_us = INT64_MAX;
    conn->ping_due_us = now_us + H2_KEEPALIVE_US;
    conn->notice_us = INT64_MAX;
    conn->feed_requests_max = H2_FEED_REQUESTS_MAX;
    h2_guard_init(&conn->guard, now_us);
    h2_bucket_init(&conn->own_resets, H2_RESETS_BURST, H2_RESETS_PER_SECOND, now_us);
    shared->stats.connections_live++;
    err = h2_err_of_nghttp2(nghttp2_session_server_new3(
        &conn->session, shared->callbacks, conn, shared->options, &shared->memory.functions));
    if (err == OK) {
        err = h2_conn_submit_settings(conn);
    }
    if (err != OK) {
        h2_conn_free(conn);
        return err;
    }
    *ret_conn = conn;
    return OK;
}

void h2_conn_free(struct h2_conn *conn)
{
    if (conn == NULL) {
        return;
    }
    ASSERT(conn->depth == 0);
    conn->done = true;
    conn->closing = true;
    while (conn->streams != NULL) {
        h2_stream_close(conn->streams);
    }
    ASSERT(conn->stream_count == 0);
    nghttp2_session_del(conn->session);
    conn->shared->stats.connections_live--;
    free(conn);
}

void h2_conn_note_output(struct h2_conn *conn)
{
    if (conn->depth == 0 && !conn->closing) {
        conn->shared->handlers->on_output(conn->user);
    }
}

void h2_conn_fail(struct h2_conn *conn, enum h2_code code, const char *why)
{
    int result = 0;

    if (conn->failed || conn->done) {
        return;
    }
    conn->failed = true;
    if (code == H2_ENHANCE_YOUR_CALM) {
        conn->rate_limited = true;
        conn->shared->stats.connections_rate_limited++;
    }
    result = nghttp2_submit_goaway(conn->session, NGHTTP2_FLAG_NONE,
                                   nghttp2_session_get_last_proc_stream_id(conn->session), code,
                                   (const uint8_t *)why, strlen(why));
    if (result != 0) {
        conn->done = true;
    }
    h2_conn_note_output(conn);
}

/* Ends the connection because of an error of nghttp2. */
static void h2_conn_fail_feed(struct h2_conn *conn, int code)
{
    if (code == NGHTTP2_ERR_FLOODED) {
        h2_conn_fail(conn, H2_ENHANCE_YOUR_CALM, "too_many_acknowledgements");
    } else if (code == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) {
        h2_conn_fail(conn, H2_ENHANCE_YOUR_CALM, "too_many_continuations");
    } else if (code == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
        h2_conn_fail(conn, H2_PROTOCOL_ERROR, "bad_preface");
    } else {
        h2_conn_fail(conn, H2_INTERNAL_ERROR, "out_of_memory");
    }
}

void h2_conn_limit_feed(struct h2_conn *conn, uint32_t requests_max)
{
    ASSERT(requests_max >= 1);
    ASSERT(requests_max <= H2_FEED_REQUESTS_MAX);
    conn->feed_requests_max = requests_max;
}

uint32_t h2_conn_stream_count(const struct h2_conn *conn)
{
    return conn->stream_count;
}

size_t h2_conn_feed(struct h2_conn *conn, struct slice bytes, int64_t now_us)
{
    const char *complaint = NULL;
    size_t size = 0;
    ssize_t taken = 0;

    conn->now_us = now_us;
    if (conn->failed || conn->done) {
        return bytes.size;
    }
    conn->depth++;
    if (bytes.size > H2_FEED_BYTES_MAX) {
        bytes.size = H2_FEED_BYTES_MAX;
    }
    /* Each request has two events: its beginning and its end. */
    complaint = h2_guard_feed(&conn->guard, bytes, 2 * conn->feed_requests_max, now_us, &size);
    if (complaint != NULL) {
        h2_conn_fail(conn, conn->guard.complaint_code, complaint);
    } else {
        taken = nghttp2_session_mem_recv(conn->session, bytes.data, size);
        if (taken < 0) {
            h2_conn_fail_feed(conn, (int)taken);
        }
    }
    conn->depth--;
    return size;
}

/* The first frame sent is our SETTINGS. It announces H2_STREAMS_MAX to the peer, while nghttp2
 * assumes no limit: above a limit of its own it would end the whole connection, although RFC 9113,
 * 5.1.2 requires an error of only the stream. The caller of h2_stream_open counts streams. */
static void h2_conn_patch_settings(struct h2_conn *conn, uint8_t *frame, size_t size)
{
    uint8_t *entry = frame + H2_FRAME_HEAD_BYTES;

    ASSERT(size >= H2_FRAME_HEAD_BYTES + 6);
    ASSERT(frame[3] == NGHTTP2_SETTINGS);
    ASSERT(entry[1] == NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    bytes_put_be32(entry + 2, H2_STREAMS_MAX);
    conn->settings_patched = true;
}

/* Moves pending bytes into the output; false if it is full. */
static bool h2_conn_put_pending(struct h2_conn *conn)
{
    size_t room = (size_t)(conn->output.end - conn->output.next);
    size_t step = conn->pending.size < room ? conn->pending.size : room;

    if (step > 0) {
        memcpy(conn->output.next, conn->pending.data, step);
        conn->output.next += step;
        conn->pending = slice_after(conn->pending, step);
    }
    return conn->pending.size == 0;
}

static void h2_conn_drain_session(struct h2_conn *conn)
{
    while (!conn->done) {
        const uint8_t *frame = NULL;
        ssize_t size = h2_memory_fill_reserve(&conn->shared->memory)
                           ? nghttp2_session_mem_send(conn->session, &frame)
                           : NGHTTP2_ERR_NOMEM;

        if (size < 0) {
            conn->done = true;
            return;
        }
        if (size == 0) {
            return;
        }
        conn->pending = slice_of(frame, (size_t)size);
        if (!h2_conn_put_pending(conn)) {
            return;
        }
    }
}

/* Calls on_drained for the streams that requested it; true if there was any. */
static bool h2_conn_notify_drained(struct h2_conn *conn)
{
    struct h2_stream *stream = conn->streams;
    struct h2_stream *next = NULL;

    if (conn->drained_wanted == 0 || conn->failed) {
        return false;
    }
    for (; stream != NULL; stream = next) {
        next =
            stream
                ->next; /* handlers do not close streams: nghttp2 closes them when it sends frames */
        if (stream->wants_drained) {
            stream->wants_drained = false;
            conn->drained_wanted--;
            conn->shared->handlers->on_drained(conn->user, stream);
        }
    }
    return true;
}

size_t h2_conn_drain(struct h2_conn *conn, uint8_t *to, size_t size)
{
    bool first = !conn->settings_patched;
    bool once = true; /* requests for on_drained are served once per drain */
    bool moved = false;
    uint8_t *before = NULL;

    if (conn->done && conn->pending.size == 0) {
        return 0;
    }
    ASSERT(size >= H2_DRAIN_BYTES_MIN);
    conn->depth++;
    conn->output = (struct h2_output){to, to + size};
    do {
        before = conn->output.next;
        if (h2_conn_put_pending(conn)) {
            h2_conn_drain_session(conn);
        }
        moved = once || conn->output.next != before;
        once = false;
        /* A stream that now has more output adds it here; nothing new is requested. */
    } while (moved && conn->pending.size == 0 && h2_conn_notify_drained(conn));
    size = (size_t)(conn->output.next - to);
    conn->output = (struct h2_output){NULL, NULL};
    conn->depth--;
    if (first && size > 0) {
        h2_conn_patch_settings(conn, to, size);
    }
    return size;
}

static void h2_conn_ping(struct h2_conn *conn, const char *payload)
{
    if (nghttp2_submit_ping(conn->session, NGHTTP2_FLAG_NONE, (const uint8_t *)payload) != 0) {
        conn->done = true;
    }
    h2_conn_note_output(conn);
}

static void h2_conn_finish_shutdown(struct h2_conn *conn)
{
    int code = 0;

    if (conn->final_goaway || conn->failed) {
        return;
    }
    conn->final_goaway = true;
    code = nghttp2_submit_goaway(conn->session, NGHTTP2_FLAG_NONE,
                                 nghttp2_session_get_last_proc_stream_id(conn->session),
                                 H2_NO_ERROR, NULL, 0);
    if (code != 0) {
        conn->done = true;
    }
    h2_conn_note_output(conn);
}

void h2_conn_shutdown(struct h2_conn *conn, int64_t now_us)
{
    conn->now_us = now_us;
    if (conn->notice_us != INT64_MAX || conn->failed || conn->done) {
        return;
    }
    conn->notice_us = now_us;
    if (nghttp2_submit_shutdown_notice(conn->session) != 0) {
        conn->done = true;
        return;
    }
    h2_conn_ping(conn, H2_PING_SHUTDOWN);
}

void h2_conn_note_pong(struct h2_conn *conn, const uint8_t *payload)
{
    if (memcmp(payload, H2_PING_SHUTDOWN, H2_PING_BYTES) == 0 && conn->notice_us != INT64_MAX) {
        h2_conn_finish_shutdown(conn);
    } else if (memcmp(payload, H2_PING_KEEPALIVE, H2_PING_BYTES) == 0) {
        conn->ping_sent_us = INT64_MAX;
        conn->ping_due_us = conn->now_us + H2_KEEPALIVE_US;
    }
}

void h2_conn_note_ping(struct h2_conn *conn)
{
    if (conn->peer_ping_us != 0 && conn->now_us - conn->peer_ping_us < H2_PING_INTERVAL_US) {
        conn->ping_strikes++;
    }
    conn->peer_ping_us = conn->now_us;
    if (conn->ping_strikes > H2_PING_STRIKES_MAX) {
        h2_conn_fail(conn, H2_ENHANCE_YOUR_CALM, "too_many_pings");
    }
}

static void h2_conn_tick_keepalive(struct h2_conn *conn)
{
    if (conn->ping_sent_us != INT64_MAX) {
        if (conn->now_us - conn->ping_sent_us >= H2_KEEPALIVE_ANSWER_US) {
            conn->done = true; /* the peer is gone and reads no GOAWAY */
            h2_conn_note_output(conn);
        }
        return;
    }
    if (conn->stream_count > 0 && conn->now_us >= conn->ping_due_us) {
        conn->ping_sent_us = conn->now_us;
        h2_conn_ping(conn, H2_PING_KEEPALIVE);
    }
}

static void h2_conn_tick_streams(struct h2_conn *conn)
{
    for (struct h2_stream *stream = conn->streams; stream != NULL; stream = stream->next) {
        if (stream->blocked_since_us != INT64_MAX &&
            conn->now_us - stream->blocked_since_us >= H2_BLOCKED_DEADLINE_US) {
            stream->blocked_since_us = INT64_MAX;
            h2_stream_reset(stream, H2_CANCEL);
        }
        if (conn->now_us >= stream->linger_until_us) {
            stream->linger_until_us = INT64_MAX;
            h2_stream_reset(stream, H2_NO_ERROR);
        }
    }
}

int64_t h2_conn_idle_since_us(const struct h2_conn *conn)
{
    return conn->idle_since_us;
}

/* Checks the peer's deadlines: SETTINGS, header block, frame, window. */
static void h2_conn_tick_peer(struct h2_conn *conn)
{
    const struct h2_guard *guard = &conn->guard;
    int64_t now_us = conn->now_us;

    if (!guard->settings_seen && now_us - conn->started_us >= H2_SETTINGS_DEADLINE_US) {
        h2_conn_fail(conn, H2_PROTOCOL_ERROR, "no_settings");
    } else if (guard->header_block_since_us != INT64_MAX &&
               now_us - guard->header_block_since_us >= H2_HEADER_BLOCK_DEADLINE_US) {
        h2_conn_fail(conn, H2_ENHANCE_YOUR_CALM, "header_block_too_slow");
    } else if (guard->frame_since_us != INT64_MAX &&
               now_us - guard->frame_since_us >= H2_FRAME_DEADLINE_US) {
        h2_conn_fail(conn, H2_ENHANCE_YOUR_CALM, "frame_too_slow");
    } else if (conn->notice_us == INT64_MAX && conn->idle_since_us != INT64_MAX &&
               now_us - conn->idle_since_us >= H2_IDLE_DEADLINE_US) {
        conn->shared->stats.connections_idle++;
        h2_conn_shutdown(conn, now_us);
    }
}

void h2_conn_tick(struct h2_conn *conn, int64_t now_us)
{
    conn->now_us = now_us;
    if (conn->failed || conn->done) {
        return;
    }
    if (conn->notice_us != INT64_MAX && now_us - conn->notice_us >= H2_SHUTDOWN_NOTICE_US) {
        h2_conn_finish_shutdown(conn);
    }
    h2_conn_tick_peer(conn);
    if (now_us - conn->ticked_us >= H2_TICK_US) {
        conn->ticked_us = now_us;
        h2_conn_tick_keepalive(conn);
        h2_conn_tick_streams(conn);
    }
}

bool h2_conn_rate_limited(const struct h2_conn *conn)
{
    return conn->rate_limited;
}

bool h2_conn_finished(const struct h2_conn *conn)
{
    if (conn->pending.size > 0) {
        return false;
    }
    return conn->done || (nghttp2_session_want_read(conn->session) == 0 &&
                          nghttp2_session_want_write(conn->session) == 0);
}
