/*
 * connect_request.c: converts a request to a call by its content type, fields and body; a request
 * that is not a call gets an HTTP response with a text.
 */
#include "server/connect/connect_internal.h"
#include "store/base/assert.h"

#define CONNECT_TYPES "application/json, application/proto"
#define CONNECT_STREAM_TYPES "application/connect+json, application/connect+proto"
#define GRPC_WEB_TYPES                                                                             \
    "application/grpc-web, application/grpc-web+json, application/grpc-web+proto, "                \
    "application/grpc-web-text, application/grpc-web-text+json, application/grpc-web-text+proto"
#define GRPC_TYPES "application/grpc, application/grpc+proto"

bool connect_selects(const struct call_core *core)
{
    return core->call.method != NULL;
}

/* Reads the codec from the content type of a POST. */
static void connect_read_type(struct call_core *core)
{
    struct connect_call *connect = connect_call_of(core);
    struct slice type = http_content_type(core);
    struct slice codec = {NULL, 0};

    if (connect->is_stream && slice_starts_with(type, SLICE("application/connect+"))) {
        codec = slice_after(type, SLICE("application/connect+").size);
    } else if (!connect->is_stream && slice_starts_with(type, SLICE("application/"))) {
        codec = slice_after(type, SLICE("application/").size);
    }
    if (slice_equal(codec, SLICE("json"))) {
        connect->codec = CONNECT_JSON;
    } else if (slice_equal(codec, SLICE("proto"))) {
        connect->codec = CONNECT_PROTO;
    }
}

/* Returns the content types that the method accepts over this version of HTTP. */
static struct slice connect_types(const struct call_core *core)
{
    bool is_http2 = http_exchange_of(core)->version->is_http2;

    if (core->call.method->stream == METHOD_UNARY) {
        return is_http2 ? SLICE(CONNECT_TYPES ", " GRPC_WEB_TYPES ", " GRPC_TYPES)
                        : SLICE(CONNECT_TYPES ", " GRPC_WEB_TYPES);
    }
    return is_http2 ? SLICE(CONNECT_STREAM_TYPES ", " GRPC_WEB_TYPES ", " GRPC_TYPES)
                    : SLICE(CONNECT_STREAM_TYPES ", " GRPC_WEB_TYPES);
}

/* Responds to a request with an HTTP method that the RPC does not support; false if it supports it. */
static bool connect_refuse_verb(struct call_core *core)
{
    const struct method_info *method = core->call.method;
    enum http_verb verb = http_exchange_of(core)->verb;
    bool has_get = method->no_side_effects && method->stream == METHOD_UNARY;

    if (verb == HTTP_POST || (verb == HTTP_GET && has_get)) {
        return false;
    }
    http_answer_field(core, SLICE("allow"), has_get ? SLICE("GET, POST") : SLICE("POST"));
    http_answer_text(core, 405,
                     "method: not allowed; expected POST, or GET for calls without side effects\n");
    return true;
}

/* Responds to a request that is not a Connect call; false if it is one. */
static bool connect_refuse_http(struct call_core *core)
{
    const struct connect_call *connect = connect_call_of(core);
    const struct http_exchange *exchange = http_exchange_of(core);

    if (connect_refuse_verb(core)) {
        return true;
    }
    if (connect->is_get ? exchange->body.has_body : connect->codec == CONNECT_NO_CODEC) {
        http_answer_field(core, SLICE("accept-post"), connect_types(core));
        http_answer_text(core, 415,
                         connect->is_stream
                             ? "content-type: unsupported; expected application/connect+json or "
                               "application/connect+proto, since the method has a stream\n"
                             : "content-type: unsupported; expected application/json or "
                               "application/proto in a POST, and no body in a GET\n");
        return true;
    }
    if (core->call.method->stream == METHOD_BIDI_STREAM && !exchange->version->is_http2) {
        http_answer_text(core, 505,
                         "path: a method with streams in both directions; expected HTTP/2\n");
        return true;
    }
    return false;
}

/* Reads connect-timeout-ms; false if it is invalid. */
static bool connect_read_timeout(const struct call_core *core, int64_t *ret_us)
{
    struct slice value = http_field(core, SLICE("connect-timeout-ms"));
    int64_t timeout_ms = 0;

    *ret_us = INT64_MAX;
    if (value.data == NULL) {
        return true;
    }
    if (value.size == 0 || value.size > CONNECT_TIMEOUT_DIGITS_MAX) {
        return false;
    }
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            return false;
        }
        timeout_ms = timeout_ms * 10 + (value.data[i] - '0');
    }
    *ret_us = timeout_ms > CALL_TIMEOUT_US_MAX / 1000 ? CALL_TIMEOUT_US_MAX : timeout_ms * 1000;
    return true;
}

/* Returns whether replies are pages of a list: they are large and repetitive, and often read by
 * browsers over slow links. */
static bool connect_is_list(const struct method_info *method)
{
    const struct message_info *reply = method->reply;

    for (uint32_t i = 0; reply != NULL && i < reply->count; i++) {
        if (slice_equal(reply->fields[i].name, SLICE("next_page_token"))) {
            return true;
        }
    }
    return false;
}

/* Reads the encodings that the request uses and accepts. */
static void connect_read_encodings(struct call_core *core)
{
    struct connect_call *connect = connect_call_of(core);

    connect->encoding = connect_encoding_of(http_field(
        core, connect->is_stream ? SLICE("connect-content-encoding") : SLICE("content-encoding")));
    core->accepts_gzip = http_list_has_gzip(http_field(
        core, connect->is_stream ? SLICE("connect-accept-encoding") : SLICE("accept-encoding")));
    connect->envelopes.gzip = connect->encoding == CONNECT_GZIP;
    core->offers_gzip = !connect->is_stream && connect_is_list(core->call.method);
}

/* Returns why the call is invalid; NULL if it is not. */
static const char *connect_find_mistake(struct call_core *core, int64_t *ret_timeout_us)
{
    struct connect_call *connect = connect_call_of(core);
    struct slice version = http_field(core, SLICE("connect-protocol-version"));
    const char *mistake = NULL;

    if (version.size > 0 && !slice_equal(version, SLICE("1"))) {
        return "connect-protocol-version: unknown; expected 1";
    }
    if (!connect_read_timeout(core, ret_timeout_us)) {
        return "connect-timeout-ms: invalid; expected 1 to 10 digits";
    }
    if (connect->is_get) {
        mistake = connect_read_query(core);
    }
    if (mistake == NULL && connect->codec == CONNECT_NO_CODEC) {
        mistake = "encoding: missing or unknown; expected json or proto";
    }
    return mistake;
}

/* Begins the message of a POST; the bytes follow. */
static void connect_begin_post(struct call_core *core)
{
    const struct http_body *body = &http_exchange_of(core)->body;
    bool compressed = body->has_body && connect_call_of(core)->encoding == CONNECT_GZIP;

    if (body->has_body && !body->has_length) {
        call_begin_unsized_message(core, compressed);
    } else {
        call_begin_message(core, body->length > UINT32_MAX ? UINT32_MAX : (uint32_t)body->length,
                           compressed);
    }
}

/* Reads the message of a GET from its query. */
static void connect_take_get(struct call_core *core)
{
    const struct connect_call *connect = connect_call_of(core);
    struct slice message = connect->message;

    call_begin_message(core, (uint32_t)message.size,
                       message.size > 0 && connect->encoding == CONNECT_GZIP);
    while (message.size > 0 && !core->ended) {
        message = slice_after(message, call_take_message_bytes(core, message));
    }
}

/* Starts the call in the services, or refuses it. */
static void connect_start_call(struct call_core *core)
{
    struct connect_call *connect = connect_call_of(core);
    int64_t timeout_us = INT64_MAX;
    const char *mistake = NULL;

    connect_read_encodings(core);
    mistake = connect_find_mistake(core, &timeout_us);
    core->protocol = connect_call_protocol(connect->is_stream, connect->codec);
    if (mistake != NULL) {
        call_refuse_err(core, ERR_INVALID, mistake);
    } else if (connect->encoding == CONNECT_UNKNOWN_ENCODING) {
        call_refuse_err(core, ERR_UNIMPLEMENTED,
                        "content-encoding: unsupported; expected identity or gzip");
    } else {
        call_start_within(core, timeout_us);
    }
}

void connect_start(struct call_core *core)
{
    struct connect_call *connect = connect_call_of(core);

    connect->is_stream = core->call.method->stream != METHOD_UNARY;
    connect->is_get = http_exchange_of(core)->verb == HTTP_GET;
    if (!connect->is_get) {
        connect_read_type(core);
    }
    if (connect_refuse_http(core)) {
        return;
    }
    connect_start_call(core);
    if (core->ended || connect->is_stream) {
        return;
    }
    if (connect->is_get) {
        connect_take_get(core);
    } else {
        connect_begin_post(core);
    }
}

/* Takes bytes of the only message of a unary call. */
static size_t connect_take_message(struct call_core *core, struct slice bytes)
{
    size_t taken = 0;

    call_note_progress(core, bytes.size);
    while (taken < bytes.size && !core->ended) {
        size_t step = call_take_message_bytes(core, slice_after(bytes, taken));

        if (step == 0) {
            call_refuse_err(core, ERR_MALFORMED, NULL); /* more than was announced */
        }
        taken += step;
    }
    return bytes.size;
}

size_t connect_take_body(struct call_core *core, struct slice bytes)
{
    struct connect_call *connect = connect_call_of(core);

    return connect->is_stream ? call_take_envelopes(core, &connect->envelopes, bytes)
                              : connect_take_message(core, bytes);
}

void connect_take_end(struct call_core *core)
{
    const struct call_input *input = &core->input;

    if (connect_call_of(core)->is_stream) {
        return;
    }
    call_end_unsized_message(core);
    if (input->size < input->message_bytes) {
        call_refuse_err(core, ERR_MALFORMED,
                        "request: ended before its announced length; expected all of it");
        return;
    }
    call_take_whole_message(core);
}
