/*
 * h2_callbacks.c: nghttp2's callbacks, translated into the handlers' events. A result of 0
 * continues; TEMPORAL_CALLBACK_FAILURE ends the stream, with the code of the RST_STREAM submitted
 * before.
 */
#include "server/http2/h2_internal.h"

/* Overhead of a field in the header list: RFC 9113, 6.5.2. */
#define H2_FIELD_OVERHEAD_BYTES 32

/* A request's events come in a row, so nghttp2 is searched only for the first of them. */
static struct h2_stream *h2_find_stream(struct h2_conn *conn, int32_t id)
{
    struct h2_stream *stream = conn->recent;

    if (stream != NULL && stream->id == id) {
        return stream;
    }
    stream = nghttp2_session_get_stream_user_data(conn->session, id);
    if (stream != NULL) {
        conn->recent = stream;
    }
    return stream;
}

static int h2_fail_stream(nghttp2_session *session, int32_t id, enum h2_code code)
{
    if (nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, code) != 0) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int h2_on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *user)
{
    struct h2_conn *conn = user;
    uint32_t bytes = (uint32_t)head->length;

    (void)session;
    bytes =
        bytes < H2_FEED_BYTES_MAX ? bytes : (uint32_t)H2_FEED_BYTES_MAX; /* a frame is not larger */
    if (head->type == NGHTTP2_HEADERS) {
        conn->block_bytes = bytes;
    } else if (head->type == NGHTTP2_CONTINUATION) {
        conn->block_bytes += bytes;
    }
    return 0;
}

/* Returns whether the list exceeds what its block's bytes may expand to. */
static bool h2_list_is_far_too_large(const struct h2_conn *conn, const struct h2_stream *stream)
{
    return stream->header_list_bytes > H2_HEADER_LIST_BYTES_COUNTED &&
           stream->header_list_bytes > H2_HEADER_LIST_TIMES_MAX * conn->block_bytes;
}

static int h2_on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2_conn *conn = user;
    struct h2_stream *stream = NULL;
    int32_t id = frame->hd.stream_id;

    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        return 0;
    }
    if (conn->stream_count >= H2_STREAMS_MAX) {
        conn->shared->stats.streams_refused++;
        return h2_fail_stream(session, id, H2_REFUSED_STREAM);
    }
    stream = h2_stream_open(conn, id);
    if (stream == NULL) {
        return h2_fail_stream(session, id, H2_REFUSED_STREAM);
    }
    if (nghttp2_session_set_stream_user_data(session, id, stream) != 0) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    conn->shared->handlers->on_request(conn->user, stream);
    return 0;
}

static int h2_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                        size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags,
                        void *user)
{
    struct h2_conn *conn = user;
    struct h2_stream *stream = h2_find_stream(conn, frame->hd.stream_id);

    (void)session;
    (void)flags;
    if (stream == NULL) {
        return 0;
    }
    stream->header_list_bytes += (uint32_t)(name_bytes + value_bytes + H2_FIELD_OVERHEAD_BYTES);
    if (h2_list_is_far_too_large(conn, stream)) {
        h2_conn_fail(conn, H2_ENHANCE_YOUR_CALM, "header_list_too_large");
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    if (stream->fields_end) {
        return 0; /* trailers of a request are ignored */
    }
    conn->shared->handlers->on_field(conn->user, stream, slice_of(name, name_bytes),
                                     slice_of(value, value_bytes));
    return 0;
}

/* nghttp2 would drop such a field silently. */
static int h2_on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                                const uint8_t *name, size_t name_bytes, const uint8_t *value,
                                size_t value_bytes, uint8_t flags, void *user)
{
    (void)name;
    (void)name_bytes;
    (void)value;
    (void)value_bytes;
    (void)flags;
    (void)user;
    return h2_fail_stream(session, frame->hd.stream_id, H2_PROTOCOL_ERROR);
}

static int h2_on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t id,
                            const uint8_t *data, size_t size, void *user)
{
    struct h2_conn *conn = user;
    struct h2_stream *stream = h2_find_stream(conn, id);

    (void)flags;
    if (stream == NULL) {
        return nghttp2_session_consume(session, id, size) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    if (stream->lingers) {
        /* The body is ignored; the stream's own window stays closed, which bounds the bytes
         * received. */
        return nghttp2_session_consume_connection(session, size) == 0
                   ? 0
                   : NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    stream->unconsumed_bytes += (uint32_t)size;
    conn->shared->handlers->on_data(conn->user, stream, slice_of(data, size));
    return 0;
}

static void h2_end_fields(struct h2_conn *conn, struct h2_stream *stream)
{
    if (stream->fields_end) {
        return;
    }
    stream->fields_end = true;
    if (h2_stream_is_over_limit(stream) && !h2_bucket_take(&conn->own_resets, conn->now_us)) {
        h2_conn_fail(conn, H2_ENHANCE_YOUR_CALM, "too_many_large_header_lists");
    }
    conn->shared->handlers->on_fields_end(conn->user, stream);
}

static int h2_on_stream_frame(struct h2_conn *conn, const nghttp2_frame *frame)
{
    struct h2_stream *stream = h2_find_stream(conn, frame->hd.stream_id);

    if (stream == NULL) {
        return 0;
    }
    stream->request_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_HEADERS) {
        h2_end_fields(conn, stream);
    }
    if (stream->request_end && !stream->lingers) {
        conn->shared->handlers->on_request_end(conn->user, stream);
    }
    return 0;
}

static int h2_on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2_conn *conn = user;

    (void)session;
    if (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) {
        return h2_on_stream_frame(conn, frame);
    }
    if (frame->hd.type == NGHTTP2_PING) {
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) {
            h2_conn_note_pong(conn, frame->ping.opaque_data);
        } else {
            h2_conn_note_ping(conn);
        }
    }
    return 0;
}

static void h2_note_data_sent(struct h2_conn *conn, const nghttp2_frame *frame)
{
    struct h2_stream *stream = h2_find_stream(conn, frame->hd.stream_id);
    size_t size = frame->hd.length;

    if (size >= H2_EARNING_DATA_BYTES) {
        h2_bucket_give(&conn->guard.idle_frames, H2_IDLE_FRAMES_EARNED);
    }
    if (stream == NULL || stream->blocked_since_us == INT64_MAX) {
        return;
    }
    stream->progress_bytes += (uint32_t)size;
    if (stream->progress_bytes >= H2_BLOCKED_PROGRESS_BYTES) {
        stream->progress_bytes = 0;
        stream->blocked_since_us = conn->now_us;
    }
}

/* Called when a frame of a response, possibly its last, was sent. */
static int h2_note_answer_sent(struct h2_conn *conn, const nghttp2_frame *frame)
{
    struct h2_stream *stream = NULL;

    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
        return 0;
    }
    stream = h2_find_stream(conn, frame->hd.stream_id);
    if (stream == NULL || stream->request_end) {
        return 0;
    }
    if (stream->lingers) {
        stream->linger_until_us = conn->now_us + H2_TEXT_LINGER_US;
        return 0;
    }
    /* The response came before the request's end. Submitted here, the reset cannot overtake it. */
    return nghttp2_submit_rst_stream(conn->session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                     H2_NO_ERROR) == 0
               ? 0
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int h2_on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2_conn *conn = user;

    (void)session;
    if (frame->hd.type == NGHTTP2_DATA) {
        conn->ping_strikes = 0;
        h2_note_data_sent(conn, frame);
        return h2_note_answer_sent(conn, frame);
    }
    if (frame->hd.type == NGHTTP2_HEADERS) {
        conn->ping_strikes = 0;
        return h2_note_answer_sent(conn, frame);
    }
    if (frame->hd.type == NGHTTP2_GOAWAY && conn->failed) {
        conn->done = true; /* this is the last frame */
    }
    if (frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != H2_NO_ERROR &&
        !h2_bucket_take(&conn->own_resets, conn->now_us)) {
        h2_conn_fail(conn, H2_ENHANCE_YOUR_CALM, "too_many_resets_provoked");
    }
    return 0;
}

static int h2_on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
    struct h2_conn *conn = user;
    struct h2_stream *stream = h2_find_stream(conn, id);

    (void)session;
    (void)code;
    if (stream != NULL) {
        h2_stream_close(stream);
    }
    return 0;
}

/* Writes a DATA frame: its header and, directly from the response, its payload. */
static int h2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
                        size_t size, nghttp2_data_source *source, void *user)
{
    struct h2_conn *conn = user;
    struct h2_stream *stream = source->ptr;

    (void)session;
    (void)frame; /* no padding was requested */
    if ((size_t)(conn->output.end - conn->output.next) < H2_FRAME_HEAD_BYTES + size) {
        return NGHTTP2_ERR_WOULDBLOCK;
    }
    memcpy(conn->output.next, head, H2_FRAME_HEAD_BYTES);
    conn->output.next += H2_FRAME_HEAD_BYTES;
    if (stream->is_text) {
        memcpy(conn->output.next, stream->text.data, size);
        stream->text = slice_after(stream->text, size);
    } else {
        conn->shared->handlers->body_copy(conn->user, stream, conn->output.next, size);
    }
    conn->output.next += size;
    return 0;
}

enum err h2_callbacks_new(nghttp2_session_callbacks **ret_callbacks)
{
    nghttp2_session_callbacks *callbacks = NULL;
    int code = nghttp2_session_callbacks_new(&callbacks);

    if (code != 0) {
        return h2_err_of_nghttp2(code);
    }
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, h2_on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, h2_on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, h2_on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, h2_on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, h2_on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, h2_on_frame_recv);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, h2_on_frame_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, h2_on_stream_close);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, h2_send_data);
    *ret_callbacks = callbacks;
    return OK;
}
