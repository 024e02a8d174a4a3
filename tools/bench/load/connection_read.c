/*
 * connection_read.c: reads the server's frames: answers, and frames about the connection. Strict if
 * an error could make a wrong answer appear right, otherwise lenient.
 */
#include "tools/bench/load/connection_internal.h"

/* Names of error codes (RFC 9113, section 7). */
static const char *const error_names[] = {"NO_ERROR",
                                          "PROTOCOL_ERROR",
                                          "INTERNAL_ERROR",
                                          "FLOW_CONTROL_ERROR",
                                          "SETTINGS_TIMEOUT",
                                          "STREAM_CLOSED",
                                          "FRAME_SIZE_ERROR",
                                          "REFUSED_STREAM",
                                          "CANCEL",
                                          "COMPRESSION_ERROR",
                                          "CONNECT_ERROR",
                                          "ENHANCE_YOUR_CALM",
                                          "INADEQUATE_SECURITY",
                                          "HTTP_1_1_REQUIRED"};

static const char *error_name(uint32_t code)
{
    return code < sizeof(error_names) / sizeof(error_names[0]) ? error_names[code] : "an error";
}

/* --- answers --- */

static enum answer_wrong judge_plain(const struct load_kind *kind, const struct call *call,
                                     uint64_t *ret_code)
{
    if (call->http_status != (int32_t)kind->status) {
        *ret_code = (uint64_t)(call->http_status < 0 ? 0 : call->http_status);
        return ANSWER_HTTP_STATUS;
    }
    return ANSWER_RIGHT;
}

static bool is_one_message(const struct call *call)
{
    return call->received >= GRPC_PREFIX_BYTES && call->prefix[0] == 0 &&
           bytes_get_be32(call->prefix + 1) == call->received - GRPC_PREFIX_BYTES;
}

static enum answer_wrong judge_grpc(const struct load_kind *kind, const struct call *call,
                                    uint64_t *ret_code)
{
    if (call->http_status != 200) {
        *ret_code = (uint64_t)(call->http_status < 0 ? 0 : call->http_status);
        return ANSWER_HTTP_STATUS;
    }
    if (call->grpc_status < 0) {
        return ANSWER_NO_STATUS;
    }
    if (call->grpc_status != (int32_t)kind->status) {
        *ret_code = (uint64_t)call->grpc_status;
        return ANSWER_STATUS;
    }
    return call->grpc_status != 0 || is_one_message(call) ? ANSWER_RIGHT : ANSWER_FRAMING;
}

/* Called when the server has ended the stream: evaluates the response. */
static void end_answer(struct connection *connection, struct call *take_call)
{
    const struct load_kind *kind = &connection->shared->kinds[take_call->kind];
    uint64_t code = 0;
    enum answer_wrong wrong = connection->shared->plain ? judge_plain(kind, take_call, &code)
                                                        : judge_grpc(kind, take_call, &code);

    if (wrong == ANSWER_RIGHT &&
        (take_call->received < kind->bytes_min || take_call->received > kind->bytes_max)) {
        wrong = ANSWER_BYTES;
        code = take_call->received;
    }
    if (take_call->body != NULL) {
        /* The server does not need the rest of the request (RFC 9113, section 8.1). */
        uint8_t *payload = connection_put_frame(
            connection, (struct http2_head){4, HTTP2_RST_STREAM, 0, take_call->stream});

        if (payload != NULL) {
            bytes_put_be32(payload, HTTP2_CANCEL);
        }
    }
    connection_end(connection, take_call, wrong, code);
}

/* Removes the padding; returns false if it is longer than the frame. */
static bool unpad(uint8_t flags, struct slice *payload)
{
    size_t padding = 0;

    if ((flags & HTTP2_PADDED) == 0) {
        return true;
    }
    if (payload->size == 0 || payload->data[0] >= payload->size) {
        return false;
    }
    padding = payload->data[0];
    *payload = slice_of(payload->data + 1, payload->size - 1 - padding);
    return true;
}

/* Updates the connection's window once half of it is used. */
static enum err note_received(struct connection *connection, uint32_t size)
{
    uint8_t *payload = NULL;

    connection->unacknowledged += size;
    if (connection->unacknowledged < CONNECTION_WINDOW / 2) {
        return OK;
    }
    payload = connection_put_frame(connection, (struct http2_head){4, HTTP2_WINDOW_UPDATE, 0, 0});
    if (payload == NULL) {
        return ERR_MEMORY;
    }
    bytes_put_be32(payload, connection->unacknowledged);
    connection->unacknowledged = 0;
    return OK;
}

static enum err read_data(struct connection *connection, struct http2_head head,
                          struct slice payload)
{
    struct call *call = connection_find(connection, head.stream);

    if (!unpad(head.flags, &payload)) {
        return connection_fail(connection, "the server sent a DATA frame with invalid padding");
    }
    if (call != NULL) {
        for (size_t i = 0; i < payload.size && call->received + i < GRPC_PREFIX_BYTES; i++) {
            call->prefix[call->received + i] = payload.data[i];
        }
        call->received += payload.size;
        if ((head.flags & HTTP2_END_STREAM) != 0) {
            connection->message_size = 0;
            end_answer(connection, call);
        }
    }
    return note_received(connection, head.size);
}

/* --- header blocks --- */

static int32_t number_of(const uint8_t *text, size_t size)
{
    int32_t number = size == 0 ? -1 : 0;

    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || i == 9) {
            return -1;
        }
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

static void note_field(struct connection *connection, struct call *call, const nghttp2_nv *field)
{
    struct slice name = slice_of(field->name, field->namelen);

    if (slice_equal(name, SLICE(":status"))) {
        call->http_status = number_of(field->value, field->valuelen);
    } else if (slice_equal(name, SLICE("grpc-status"))) {
        call->grpc_status = number_of(field->value, field->valuelen);
    } else if (slice_equal(name, SLICE("grpc-message"))) {
        size_t size = field->valuelen < CONNECTION_MESSAGE_BYTES_MAX ? field->valuelen
                                                                     : CONNECTION_MESSAGE_BYTES_MAX;

        memcpy(connection->message, field->value, size);
        connection->message_size = size;
    }
}

/* Every block is decoded, since each may change the table for the next one. */
static bool inflate(struct connection *connection, struct call *call, struct slice block, bool last)
{
    const uint8_t *at = block.data;
    size_t size = block.size;

    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(connection->inflater, &field, &flags, at, size, last);

        if (used < 0) {
            return false;
        }
        at += used;
        size -= (size_t)used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0 && call != NULL) {
            note_field(connection, call, &field);
        }
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
            (void)nghttp2_hd_inflate_end_headers(connection->inflater);
            return true;
        }
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && size == 0) {
            return true;
        }
    }
}

static enum err read_block(struct connection *connection, struct http2_head head,
                           struct slice block)
{
    struct call *call = connection_find(connection, head.stream);
    bool last = (head.flags & HTTP2_END_HEADERS) != 0;

    if (!inflate(connection, call, block, last)) {
        return connection_fail(connection, "the server sent a header block that cannot be decoded");
    }
    connection->block_stream = last ? 0 : head.stream;
    if (last && connection->block_ends_stream && call != NULL) {
        end_answer(connection, call);
    }
    return OK;
}

static enum err read_headers(struct connection *connection, struct http2_head head,
                             struct slice payload)
{
    bool whole = unpad(head.flags, &payload);

    if ((head.flags & HTTP2_PRIORITY_FLAG) != 0) {
        whole = whole && payload.size >= 5;
        payload = slice_after(payload, whole ? 5 : 0);
    }
    if (!whole) {
        return connection_fail(connection, "the server sent a truncated HEADERS frame");
    }
    connection->block_ends_stream = (head.flags & HTTP2_END_STREAM) != 0;
    connection->message_size = 0;
    return read_block(connection, head, payload);
}

/* --- the connection --- */

static void move_stream_windows(struct connection *connection, int64_t by)
{
    for (size_t i = 0; i < connection->bucket_count; i++) {
        for (struct call *call = connection->buckets[i]; call != NULL; call = call->next) {
            call->window += by;
        }
    }
    connection->stream_window += by;
}

static enum err apply_setting(struct connection *connection, uint16_t id, uint32_t value)
{
    if (id == HTTP2_HEADER_TABLE_SIZE) {
        return hpack_set_limit(&connection->hpack, value);
    }
    if (id == HTTP2_MAX_CONCURRENT_STREAMS) {
        connection->streams_max = value < CONNECTION_STREAMS_MAX ? value : CONNECTION_STREAMS_MAX;
    } else if (id == HTTP2_INITIAL_WINDOW_SIZE) {
        move_stream_windows(connection, (int64_t)value - connection->stream_window);
    } else if (id == HTTP2_MAX_FRAME_SIZE) {
        connection->frame_bytes_max = value;
    }
    return OK;
}

static enum err read_settings(struct connection *connection, struct http2_head head,
                              struct slice payload)
{
    if ((head.flags & HTTP2_ACK) != 0) {
        return OK;
    }
    for (; payload.size >= 6; payload = slice_after(payload, 6)) {
        uint16_t id = (uint16_t)(payload.data[0] << 8 | payload.data[1]);
        enum err err = apply_setting(connection, id, bytes_get_be32(payload.data + 2));

        if (err != OK) {
            return err;
        }
    }
    connection->ready = true;
    return connection_put_frame(connection, (struct http2_head){0, HTTP2_SETTINGS, HTTP2_ACK, 0}) !=
                   NULL
               ? OK
               : ERR_MEMORY;
}

static enum err read_ping(struct connection *connection, struct http2_head head,
                          struct slice payload)
{
    uint8_t *answer = NULL;

    if ((head.flags & HTTP2_ACK) != 0 || payload.size != 8) {
        return OK;
    }
    answer = connection_put_frame(connection, (struct http2_head){8, HTTP2_PING, HTTP2_ACK, 0});
    if (answer == NULL) {
        return ERR_MEMORY;
    }
    memcpy(answer, payload.data, 8);
    return OK;
}

static enum err read_window(struct connection *connection, struct http2_head head,
                            struct slice payload)
{
    struct call *call = NULL;
    int64_t more = payload.size == 4 ? bytes_get_be32(payload.data) & HTTP2_WINDOW_MAX : 0;

    if (head.stream == 0) {
        connection->window += more;
    } else if ((call = connection_find(connection, head.stream)) != NULL) {
        call->window += more;
    }
    return OK;
}

static enum err read_reset(struct connection *connection, struct http2_head head,
                           struct slice payload)
{
    struct call *call = connection_find(connection, head.stream);

    if (call != NULL) {
        uint32_t code = payload.size == 4 ? bytes_get_be32(payload.data) : 0;

        connection->message_size = 0;
        connection_end(connection, call, ANSWER_RESET, code);
    }
    return OK;
}

/* Calls in flight may still be answered, but no new call can start. */
static enum err read_goaway(struct connection *connection, struct slice payload)
{
    uint32_t code = payload.size >= 8 ? bytes_get_be32(payload.data + 4) : 0;
    struct slice said = slice_after(payload, payload.size < 8 ? payload.size : 8);

    connection->going_away = true;
    if (connection->problem[0] == '\0') {
        (void)connection_fail(connection, "the server sent GOAWAY: %s%s%.*s", error_name(code),
                              said.size > 0 ? ", " : "", (int)(said.size < 80 ? said.size : 80),
                              (const char *)said.data);
    }
    return code == HTTP2_NO_ERROR ? OK : ERR_PRECONDITION;
}

static enum err dispatch(struct connection *connection, struct http2_head head,
                         struct slice payload)
{
    switch ((enum http2_type)head.type) {
    case HTTP2_DATA:
        return read_data(connection, head, payload);
    case HTTP2_HEADERS:
        return read_headers(connection, head, payload);
    case HTTP2_CONTINUATION:
        return read_block(connection, head, payload);
    case HTTP2_RST_STREAM:
        return read_reset(connection, head, payload);
    case HTTP2_SETTINGS:
        return read_settings(connection, head, payload);
    case HTTP2_PING:
        return read_ping(connection, head, payload);
    case HTTP2_GOAWAY:
        return read_goaway(connection, payload);
    case HTTP2_WINDOW_UPDATE:
        return read_window(connection, head, payload);
    case HTTP2_PUSH_PROMISE:
        return connection_fail(connection,
                               "the server sent PUSH_PROMISE, although push is disabled");
    case HTTP2_PRIORITY:
        break;
    }
    return OK; /* unknown frame types are ignored (section 5.5) */
}

enum err connection_read_frame(struct connection *connection, const uint8_t *bytes)
{
    struct http2_head head = http2_get_head(bytes);
    bool continues = head.type == HTTP2_CONTINUATION;

    /* No other frame may come between the frames of a header block (section 6.10). */
    if ((connection->block_stream != 0) != continues ||
        (continues && head.stream != connection->block_stream)) {
        return connection_fail(connection, "the server sent a header block out of order");
    }
    return dispatch(connection, head, slice_of(bytes + HTTP2_FRAME_HEAD_BYTES, head.size));
}
