/*
 * session_frames.c: see session_internal.h. nghttp2's callbacks: they only record events, and call
 * nghttp2 again only through its submit functions.
 */
#include "client/header.h"
#include "client/session_internal.h"
#include "store/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* --- receiving --- */

static struct client_call *stream_call(nghttp2_session *http2, int32_t stream_id)
{
    return nghttp2_session_get_stream_user_data(http2, stream_id);
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags,
                     void *user)
{
    struct client_call *call = stream_call(http2, frame->hd.stream_id);
    enum err err = OK;

    (void)flags;
    if (call == NULL || call->ended) {
        return 0;
    }
    err = call_take_field(call, slice_of(name, name_bytes), slice_of(value, value_bytes));
    if (err != OK) {
        call_set_end(call, CLIENT_CODE_RESOURCE_EXHAUSTED,
                     "the answer's headers are larger than this client accepts", false);
        session_settle(user, call);
    }
    return 0;
}

/* The server's side of the stream is complete. */
static void session_answered(struct client_session *session, struct client_call *call)
{
    if (call->ended) {
        return;
    }
    call->answered = true;
    if (call->held_bytes == 0) {
        call_conclude(call);
    }
    session_add_news(session, call);
    if (!call->request_ended) {
        /* The server needs no more of the request. */
        session_reset(session, call);
    }
}

static int on_frame_recv(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
    struct client_session *session = user;
    struct client_call *call = NULL;

    if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
        session->ready = true;
        return 0;
    }
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        session->closing = true;
        session_end_waiting(session, CLIENT_CODE_UNAVAILABLE,
                            "the server is closing this connection and did not take the call");
        return 0;
    }
    call = stream_call(http2, frame->hd.stream_id);
    if (call == NULL || call->ended) {
        return 0;
    }
    if (frame->hd.type == NGHTTP2_HEADERS && !call->headers_done && call->http_status >= 200 &&
        !call_headers_done(call)) {
        session_settle(session, call);
        return 0;
    }
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        session_answered(session, call);
    }
    return 0;
}

/* Keeps bytes that a paused call cannot take; the stream's window bounds them. */
static enum err call_hold(struct client_call *call, struct slice bytes)
{
    uint8_t *held = realloc(call->held, call->held_bytes + bytes.size);

    if (held == NULL) {
        return ERR_MEMORY;
    }
    memcpy(held + call->held_bytes, bytes.data, bytes.size);
    call->held = held;
    call->held_bytes += bytes.size;
    return OK;
}

static int on_data_chunk_recv(nghttp2_session *http2, uint8_t flags, int32_t stream_id,
                              const uint8_t *data, size_t size, void *user)
{
    struct client_session *session = user;
    struct client_call *call = stream_call(http2, stream_id);
    struct slice rest = slice_of(data, size);

    (void)flags;
    if (nghttp2_session_consume_connection(http2, size) != 0) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    if (call == NULL || call->ended) {
        (void)nghttp2_session_consume_stream(http2, stream_id, size);
        return 0;
    }
    if (call->held_bytes == 0) {
        rest = call_take_bytes(call, rest);
        (void)nghttp2_session_consume_stream(http2, stream_id, size - rest.size);
    }
    if (!call->ended && rest.size > 0 && call_hold(call, rest) != OK) {
        call_set_end(call, CLIENT_CODE_RESOURCE_EXHAUSTED, "out of memory for the answer", false);
    }
    if (call->ended) {
        session_settle(session, call);
    }
    return 0;
}

static void call_end_by_reset(struct client_call *call, uint32_t http2_error)
{
    char text[128];

    (void)snprintf(text, sizeof(text), "the server reset the stream with HTTP/2 error %s",
                   nghttp2_http2_strerror(http2_error));
    call_set_end(call, client_code_of_reset(http2_error), text, false);
}

static int on_stream_close(nghttp2_session *http2, int32_t stream_id, uint32_t http2_error,
                           void *user)
{
    struct client_session *session = user;
    struct client_call *call = stream_call(http2, stream_id);

    if (call == NULL) {
        return 0;
    }
    call->stream_open = false;
    ASSERT(session->streams > 0);
    session->streams--;
    if (call->reported) {
        session_free_call(session, call);
        return 0;
    }
    if (!call->ended && !call->answered) {
        /* The server has not processed the call (RFC 9113, 8.7), unless a part of the answer was
         * received. nghttp2 closes streams after a GOAWAY (6.8) with this error too. */
        call->refused = http2_error == NGHTTP2_REFUSED_STREAM && call->http_status == 0;
        if (session->closing && http2_error == NGHTTP2_REFUSED_STREAM) {
            call_set_end(call, CLIENT_CODE_UNAVAILABLE,
                         "the server is closing this connection and did not take the call", false);
        } else {
            call_end_by_reset(call, http2_error);
        }
    }
    session_add_news(session, call);
    return 0;
}

/* --- sending --- */

/* The next bytes from nghttp2 are those of this frame. */
static int on_before_frame_send(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
    struct client_call *call = NULL;

    (void)user;
    if (frame->hd.type == NGHTTP2_HEADERS) {
        call = stream_call(http2, frame->hd.stream_id);
    }
    if (call != NULL) {
        call->headers_sent = true;
    }
    return 0;
}

static ssize_t on_read_request(nghttp2_session *http2, int32_t stream_id, uint8_t *bytes,
                               size_t capacity, uint32_t *data_flags, nghttp2_data_source *source,
                               void *user)
{
    struct client_call *call = source->ptr;
    size_t size = 0;

    (void)http2;
    (void)stream_id;
    if (call->ended) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    size = client_outbox_take(&call->outbox, bytes, capacity);
    if (call_owes_room_now(call)) {
        session_add_news(user, call);
    }
    if (call->half_closed && call->outbox.bytes == 0) {
        call->request_ended = true;
        *data_flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (size == 0) {
        return NGHTTP2_ERR_DEFERRED; /* sending resumes with session_resume_request */
    }
    return (ssize_t)size;
}

enum err session_open_http2(struct client_session *session)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)CLIENT_STREAM_WINDOW_BYTES},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)CLIENT_HEADER_BYTES_MAX}};
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    enum err err = ERR_MEMORY;

    if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0) {
        goto out;
    }
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk_recv);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks, on_before_frame_send);
    if (nghttp2_session_client_new2(&session->http2, callbacks, session, option) != 0) {
        goto out;
    }
    if (nghttp2_submit_settings(session->http2, NGHTTP2_FLAG_NONE, settings,
                                sizeof(settings) / sizeof(settings[0])) != 0) {
        goto out;
    }
    if (nghttp2_session_set_local_window_size(session->http2, NGHTTP2_FLAG_NONE, 0,
                                              CLIENT_CONNECTION_WINDOW_BYTES) != 0) {
        goto out;
    }
    err = OK;
out:
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return err;
}

enum err session_open_stream(struct client_session *session, struct client_call *call,
                             const nghttp2_nv *fields, size_t count)
{
    nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = on_read_request};
    int32_t stream_id =
        nghttp2_submit_request(session->http2, NULL, fields, count, &provider, call);

    if (stream_id == NGHTTP2_ERR_NOMEM) {
        return ERR_MEMORY;
    }
    if (stream_id < 0) {
        /* All stream ids are used up: another connection starts from the first one. */
        session->closing = true;
        call_set_end(call, CLIENT_CODE_UNAVAILABLE, "this connection accepts no more calls", false);
        session_add_news(session, call);
        session_end_waiting(session, CLIENT_CODE_UNAVAILABLE,
                            "this connection accepts no more calls");
        return OK;
    }
    call->stream_id = stream_id;
    call->stream_open = true;
    session->streams++;
    if (call->owes_room) {
        session_add_news(session, call);
    }
    return OK;
}
