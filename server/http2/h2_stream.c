/*
 * h2_stream.c: one request and its response: the functions that the layer above calls.
 */
#include "server/http2/h2_internal.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdlib.h>

struct h2_stream *h2_stream_open(struct h2_conn *conn, int32_t id)
{
    struct h2_shared *shared = conn->shared;
    struct h2_stream *stream = shared->pool;
    uint32_t generation = 0;

    if (stream != NULL) {
        shared->pool = stream->next;
        shared->pool_count--;
        generation = stream->generation;
    } else {
        stream = FAULT("h2.stream") ? NULL : malloc(sizeof(*stream));
        if (stream == NULL) {
            return NULL;
        }
    }
    *stream = (struct h2_stream){.conn = conn,
                                 .next = conn->streams,
                                 .id = id,
                                 .generation = generation + 1,
                                 .blocked_since_us = INT64_MAX,
                                 .linger_until_us = INT64_MAX};
    if (conn->streams != NULL) {
        conn->streams->previous = stream;
    }
    conn->streams = stream;
    conn->recent = stream;
    conn->stream_count++;
    conn->idle_since_us = INT64_MAX;
    shared->stats.streams_live++;
    return stream;
}

void h2_stream_close(struct h2_stream *stream)
{
    struct h2_conn *conn = stream->conn;
    struct h2_shared *shared = conn->shared;

    shared->handlers->on_close(conn->user, stream);
    if (stream->unconsumed_bytes > 0 && !conn->done) {
        (void)nghttp2_session_consume_connection(conn->session, stream->unconsumed_bytes);
    }
    if (stream->wants_drained) {
        conn->drained_wanted--;
    }
    if (conn->recent == stream) {
        conn->recent = NULL;
    }
    if (stream->previous != NULL) {
        stream->previous->next = stream->next;
    } else {
        conn->streams = stream->next;
    }
    if (stream->next != NULL) {
        stream->next->previous = stream->previous;
    }
    ASSERT(conn->stream_count > 0);
    conn->stream_count--;
    if (conn->stream_count == 0) {
        conn->idle_since_us = conn->now_us;
    }
    shared->stats.streams_live--;
    stream->generation++;
    stream->conn = NULL;
    if (shared->pool_count >= H2_STREAM_POOL_MAX) {
        free(stream);
        return;
    }
    stream->next = shared->pool;
    shared->pool = stream;
    shared->pool_count++;
}

void h2_stream_set_user(struct h2_stream *stream, void *user)
{
    stream->user = user;
}

void *h2_stream_user(const struct h2_stream *stream)
{
    return stream->user;
}

uint32_t h2_stream_generation(const struct h2_stream *stream)
{
    return stream->generation;
}

bool h2_stream_is_over_limit(const struct h2_stream *stream)
{
    return stream->header_list_bytes > H2_HEADER_LIST_BYTES_MAX;
}

bool h2_stream_request_ended(const struct h2_stream *stream)
{
    return stream->request_end;
}

void h2_stream_linger(struct h2_stream *stream)
{
    stream->lingers = true;
}

/* Converts fields that stay valid while the stream exists to nghttp2's form; nothing is copied. */
static void h2_fields_convert(const struct h2_field *fields, size_t count, nghttp2_nv *to)
{
    ASSERT(count <= H2_FIELDS_MAX);
    for (size_t i = 0; i < count; i++) {
        to[i].name = (uint8_t *)(uintptr_t)fields[i].name.data;
        to[i].namelen = fields[i].name.size;
        to[i].value = (uint8_t *)(uintptr_t)fields[i].value.data;
        to[i].valuelen = fields[i].value.size;
        to[i].flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): nghttp2 specifies the type of `to` */
static ssize_t h2_stream_read_text(nghttp2_session *session, int32_t id, uint8_t *to, size_t size,
                                   uint32_t *flags, nghttp2_data_source *source, void *user)
{
    struct h2_stream *stream = source->ptr;
    struct h2_conn *conn = user;
    size_t step = stream->text.size < size ? stream->text.size : size;

    (void)session;
    (void)id;
    (void)to; /* the bytes go straight into the output: h2_send_data */
    conn->recent = stream;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (step == stream->text.size) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        stream->blocked_since_us = INT64_MAX;
    }
    return (ssize_t)step;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): nghttp2 says the type of `to` */
static ssize_t h2_stream_read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t size,
                                   uint32_t *flags, nghttp2_data_source *source, void *user)
{
    struct h2_stream *stream = source->ptr;
    struct h2_conn *conn = user;
    bool end = false;
    size_t ready = conn->shared->handlers->body_ready(conn->user, stream, size, &end);

    (void)session;
    (void)id;
    (void)to; /* the bytes go straight into the output: h2_send_data */
    ASSERT(ready <= size);
    conn->recent = stream; /* the events of its frame follow */
    if (ready == 0 && !end) {
        stream->blocked_since_us = INT64_MAX;
        return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (end) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        /* Trailers submitted earlier would overtake the body. */
        if (conn->shared->handlers->body_end(conn->user, stream)) {
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        }
        stream->blocked_since_us = INT64_MAX;
    }
    return (ssize_t)ready;
}

/* A response that cannot be submitted is replaced by a reset. */
static void h2_stream_check(struct h2_stream *stream, int code)
{
    if (code != 0) {
        h2_stream_reset(stream, H2_INTERNAL_ERROR);
    }
}

static void h2_stream_note_blocked(struct h2_stream *stream)
{
    if (stream->blocked_since_us == INT64_MAX) {
        stream->blocked_since_us = stream->conn->now_us;
        stream->progress_bytes = 0;
    }
}

/* A response without a reader has no body. */
static void h2_stream_submit(struct h2_stream *stream, const struct h2_field *fields, size_t count,
                             nghttp2_data_source_read_callback reader)
{
    nghttp2_nv converted[H2_FIELDS_MAX];
    nghttp2_data_provider provider = {.source = {.ptr = stream}, .read_callback = reader};
    int code = 0;

    h2_fields_convert(fields, count, converted);
    code = nghttp2_submit_response(stream->conn->session, stream->id, converted, count,
                                   reader != NULL ? &provider : NULL);
    if (reader != NULL) {
        h2_stream_note_blocked(stream);
    }
    h2_stream_check(stream, code);
    h2_conn_note_output(stream->conn);
}

void h2_stream_respond(struct h2_stream *stream, const struct h2_field *fields, size_t count,
                       bool body)
{
    h2_stream_submit(stream, fields, count, body ? h2_stream_read_body : NULL);
}

void h2_stream_respond_text(struct h2_stream *stream, const struct h2_field *fields, size_t count,
                            struct slice text)
{
    stream->is_text = true;
    stream->text = text;
    stream->lingers = true;
    h2_stream_submit(stream, fields, count, text.size > 0 ? h2_stream_read_text : NULL);
}

void h2_stream_send_trailers(struct h2_stream *stream, const struct h2_field *fields, size_t count)
{
    nghttp2_nv converted[H2_FIELDS_MAX];

    h2_fields_convert(fields, count, converted);
    h2_stream_check(stream,
                    nghttp2_submit_trailer(stream->conn->session, stream->id, converted, count));
}

void h2_stream_resume(struct h2_stream *stream)
{
    /* Fails if the body is not deferred: then it is being sent already. */
    if (nghttp2_session_resume_data(stream->conn->session, stream->id) == 0) {
        h2_stream_note_blocked(stream);
        h2_conn_note_output(stream->conn);
    }
}

void h2_stream_want_drained(struct h2_stream *stream)
{
    if (!stream->wants_drained) {
        stream->wants_drained = true;
        stream->conn->drained_wanted++;
    }
}

bool h2_stream_blocked(const struct h2_stream *stream)
{
    nghttp2_session *session = stream->conn->session;

    return nghttp2_session_get_stream_remote_window_size(session, stream->id) <= 0 ||
           nghttp2_session_get_remote_window_size(session) <= 0;
}

/* nghttp2 may answer it with output (WINDOW_UPDATE). */
static void h2_stream_report_consumed(struct h2_stream *stream)
{
    struct h2_conn *conn = stream->conn;
    int code = 0;

    if (stream->untold_bytes >= H2_REPORTED_BYTES) {
        code = nghttp2_session_consume_stream(conn->session, stream->id, stream->untold_bytes);
        stream->untold_bytes = 0;
    }
    if (code == 0 && conn->untold_bytes >= H2_REPORTED_BYTES) {
        code = nghttp2_session_consume_connection(conn->session, conn->untold_bytes);
        conn->untold_bytes = 0;
    }
    if (code != 0) {
        h2_conn_fail(conn, H2_INTERNAL_ERROR, "out_of_memory");
    }
    h2_conn_note_output(conn);
}

void h2_stream_consume(struct h2_stream *stream, size_t bytes)
{
    struct h2_conn *conn = stream->conn;

    ASSERT(bytes <= stream->unconsumed_bytes);
    stream->unconsumed_bytes -= (uint32_t)bytes;
    stream->untold_bytes += (uint32_t)bytes;
    conn->untold_bytes += (uint32_t)bytes;
    if (stream->untold_bytes >= H2_REPORTED_BYTES || conn->untold_bytes >= H2_REPORTED_BYTES) {
        h2_stream_report_consumed(stream);
    }
}

void h2_stream_reset(struct h2_stream *stream, enum h2_code code)
{
    if (nghttp2_submit_rst_stream(stream->conn->session, NGHTTP2_FLAG_NONE, stream->id, code) !=
        0) {
        h2_conn_fail(stream->conn, H2_INTERNAL_ERROR, "out_of_memory");
    }
    h2_conn_note_output(stream->conn);
}
