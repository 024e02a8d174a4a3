/*
 * connect_request.c: a request's line, fields and body as a call; other requests
 * get a response of HTTP with a text, or that of a plain path.
 */
#include "server/connect/connect_internal.h"
#include "store/base/assert.h"

#define CONNECT_TYPES "application/json, application/proto"

struct call_core *connect_open(struct call_server *server, void (*ready)(void *stream),
                               void *stream)
{
    struct call_core *core = call_open(server, &connect_proto_protocol);

    if (core != NULL) {
        core->stream = stream;
        connect_call_of(core)->ready = ready;
        connect_call_of(core)->timeout_us = INT64_MAX;
    }
    return core;
}

enum connect_encoding connect_encoding_of(struct slice name)
{
    if (slice_equal(name, SLICE("gzip"))) {
        return CONNECT_GZIP;
    }
    return name.size == 0 || slice_equal(name, SLICE("identity")) ? CONNECT_IDENTITY
                                                                  : CONNECT_UNKNOWN_ENCODING;
}

void connect_take_line(struct call_core *core, struct slice method, struct slice target)
{
    struct connect_call *connect = connect_call_of(core);
    const uint8_t *mark = memchr(target.data, '?', target.size);
    struct slice path = target;

    if (slice_equal(method, SLICE("POST"))) {
        connect->verb = CONNECT_POST;
    } else if (slice_equal(method, SLICE("GET"))) {
        connect->verb = CONNECT_GET;
    } else if (slice_equal(method, SLICE("HEAD"))) {
        connect->verb = CONNECT_HEAD;
    }
    if (mark != NULL) {
        path.size = (size_t)(mark - target.data);
        connect->no_memory =
            !arena_copy(&core->arena, slice_after(target, path.size + 1), &connect->query);
    }
    core->call.method = call_find_method(core->server, path);
    if (core->call.method == NULL) {
        connect->plain = plain_find(core->server->config.plain, path);
    }
    if (connect->plain != NULL && !arena_copy(&core->arena, path, &connect->plain_path)) {
        connect->plain = NULL;
    }
}

/* Returns the codec of a content type, with or without parameters. */
static enum connect_codec connect_codec_of(struct slice type)
{
    const uint8_t *mark = type.size > 0 ? memchr(type.data, ';', type.size) : NULL;

    if (mark != NULL) {
        type.size = (size_t)(mark - type.data);
    }
    while (type.size > 0 && type.data[type.size - 1] == ' ') {
        type.size--;
    }
    if (slice_equal(type, SLICE("application/json"))) {
        return CONNECT_JSON;
    }
    return slice_equal(type, SLICE("application/proto")) ? CONNECT_PROTO : CONNECT_NO_CODEC;
}

/* Returns whether a list such as `br;q=1, gzip` has gzip, unless it has `q=0`. */
static bool connect_accepts_gzip(struct slice list)
{
    while (list.size > 0) {
        const uint8_t *comma = memchr(list.data, ',', list.size);
        size_t size = comma != NULL ? (size_t)(comma - list.data) : list.size;
        struct slice member = slice_of(list.data, size);

        while (member.size > 0 && member.data[0] == ' ') {
            member = slice_after(member, 1);
        }
        if (slice_starts_with(member, SLICE("gzip")) &&
            !slice_equal(slice_after(member, 4), SLICE(";q=0"))) {
            return true;
        }
        list = slice_after(list, comma != NULL ? size + 1 : size);
    }
    return false;
}

static void connect_take_timeout(struct connect_call *connect, struct slice value)
{
    int64_t timeout_ms = 0;

    connect->timeout_is_bad = value.size == 0 || value.size > CONNECT_TIMEOUT_DIGITS_MAX;
    for (size_t i = 0; i < value.size && !connect->timeout_is_bad; i++) {
        connect->timeout_is_bad = value.data[i] < '0' || value.data[i] > '9';
        timeout_ms = timeout_ms * 10 + (value.data[i] - '0');
    }
    connect->timeout_us =
        timeout_ms > CALL_TIMEOUT_US_MAX / 1000 ? CALL_TIMEOUT_US_MAX : timeout_ms * 1000;
}

/* Takes fields that the protocol uses; false for the others. */
static bool connect_take_known_field(struct call_core *core, struct slice name, struct slice value)
{
    struct connect_call *connect = connect_call_of(core);

    if (slice_equal(name, SLICE("content-type"))) {
        connect->codec = connect_codec_of(value);
    } else if (slice_equal(name, SLICE("content-encoding"))) {
        connect->encoding = connect_encoding_of(value);
    } else if (slice_equal(name, SLICE("accept-encoding"))) {
        core->accepts_gzip = core->accepts_gzip || connect_accepts_gzip(value);
    } else if (slice_equal(name, SLICE("connect-protocol-version"))) {
        connect->version_is_bad = !slice_equal(value, SLICE("1"));
    } else if (slice_equal(name, SLICE("connect-timeout-ms"))) {
        connect_take_timeout(connect, value);
    } else if (connect->plain != NULL && slice_equal(name, SLICE("if-none-match"))) {
        connect->no_memory = !arena_copy(&core->arena, value, &connect->if_none_match);
    } else {
        return false;
    }
    return true;
}

void connect_take_field(struct call_core *core, struct slice name, struct slice value)
{
    if (!connect_take_known_field(core, name, value) &&
        call_take_metadata(core, name, value) != OK) {
        connect_call_of(core)->no_memory = true;
    }
}

/* Responds by HTTP, with a text that states what was expected. */
static void connect_answer_http(struct call_core *core, unsigned status, struct call_field extra,
                                const char *text)
{
    struct connect_call *connect = connect_call_of(core);

    core->server->stats.calls_refused++;
    core->ended = true;
    connect->http_status = status;
    connect->extra = extra;
    connect->type = SLICE("text/plain; charset=utf-8");
    connect->text = slice_text(text);
    connect->ready(core->stream);
}

/* Responds to a plain request. */
static void connect_answer_plain(struct call_core *core)
{
    struct connect_call *connect = connect_call_of(core);
    const struct plain_request request = {
        .arena = &core->arena,
        .path = connect->plain_path,
        .if_none_match = connect->if_none_match,
        .accepts_gzip = core->accepts_gzip,
        .authorization = core->call.authorization,
        .authorization_repeated = core->call.authorization_repeated,
        .peer = core->call.peer,
    };
    struct plain_response *response = arena_calloc(&core->arena, 1, sizeof(*response));

    if (connect->verb != CONNECT_GET && connect->verb != CONNECT_HEAD) {
        connect_answer_http(core, 405, (struct call_field){SLICE("allow"), SLICE("GET, HEAD")},
                            "method: not allowed; expected GET or HEAD\n");
        return;
    }
    if (response == NULL) {
        connect_answer_http(core, 503, (struct call_field){.name = SLICE("")},
                            "server: no memory left; try again later\n");
        return;
    }
    connect->plain->answer(core->server->config.plain->user, &request, response);
    core->ended = true;
    connect->http_status = response->status;
    connect->type = response->content_type;
    connect->text = response->body;
    connect->plain_response = response;
    connect->ready(core->stream);
}

/* Responds to a request that is not a Connect call; false if it is one. A plain one may have a body, which is ignored. */
static bool connect_refuse_http(struct call_core *core, bool has_body)
{
    const struct connect_call *connect = connect_call_of(core);
    const struct method_info *method = core->call.method;
    const struct call_field types = {SLICE("accept-post"), SLICE(CONNECT_TYPES)};
    struct call_field allowed = {SLICE("allow"), SLICE("POST")};

    if (connect->plain != NULL) {
        connect_answer_plain(core);
        return true;
    }
    if (method == NULL) {
        connect_answer_http(core, 404, (struct call_field){.name = SLICE("")},
                            "path: unknown; expected /package.Service/Method\n");
        return true;
    }
    if (method->no_side_effects && method->stream == METHOD_UNARY) {
        allowed.value = SLICE("GET, POST");
    }
    if (connect->verb != CONNECT_POST &&
        !(connect->verb == CONNECT_GET && allowed.value.size > SLICE("POST").size)) {
        connect_answer_http(core, 405, allowed,
                            "method: not allowed; expected POST, or GET for calls without side "
                            "effects\n");
        return true;
    }
    if (method->stream != METHOD_UNARY) {
        connect_answer_http(core, 415, (struct call_field){.name = SLICE("")},
                            "path: a method with a stream; expected gRPC over HTTP/2\n");
        return true;
    }
    if (connect->verb == CONNECT_GET ? has_body : connect->codec == CONNECT_NO_CODEC) {
        connect_answer_http(core, 415, types,
                            "content-type: unsupported; expected application/json or "
                            "application/proto in a POST, and no body in a GET\n");
        return true;
    }
    return false;
}

/* Begins the message of a POST; the bytes follow. */
static void connect_begin_post(struct call_core *core, bool has_body, bool has_length,
                               uint64_t length)
{
    struct connect_call *connect = connect_call_of(core);
    bool compressed = has_body && connect->encoding == CONNECT_GZIP;

    connect->message_begun = true;
    if (has_body && !has_length) {
        call_begin_unsized_message(core, compressed);
    } else {
        call_begin_message(core, length > UINT32_MAX ? UINT32_MAX : (uint32_t)length, compressed);
    }
}

/* Takes the message of a GET from its query. */
static void connect_take_get(struct call_core *core)
{
    struct connect_call *connect = connect_call_of(core);
    struct slice message = connect->message;

    connect->message_begun = true;
    call_begin_message(core, (uint32_t)message.size,
                       message.size > 0 && connect->encoding == CONNECT_GZIP);
    while (message.size > 0 && !core->ended) {
        message = slice_after(message, call_take_message_bytes(core, message));
    }
}

/* Returns why the call is invalid; NULL if it is not. */
static const char *connect_find_mistake(struct call_core *core)
{
    struct connect_call *connect = connect_call_of(core);
    const char *mistake = NULL;

    if (connect->version_is_bad) {
        return "connect-protocol-version: unknown; expected 1";
    }
    if (connect->timeout_is_bad) {
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

void connect_take_head_end(struct call_core *core, bool has_body, bool has_length, uint64_t length)
{
    struct connect_call *connect = connect_call_of(core);
    const char *mistake = NULL;

    if (connect_refuse_http(core, has_body)) {
        return;
    }
    connect->is_get = connect->verb == CONNECT_GET;
    mistake = connect_find_mistake(core);
    if (connect->codec == CONNECT_JSON) {
        core->protocol = &connect_json_protocol;
    }
    if (connect->no_memory) {
        call_refuse_err(core, ERR_MEMORY, NULL);
    } else if (mistake != NULL) {
        call_refuse_err(core, ERR_INVALID, mistake);
    } else if (connect->encoding == CONNECT_UNKNOWN_ENCODING) {
        call_refuse_err(core, ERR_UNIMPLEMENTED,
                        "content-encoding: unsupported; expected identity or gzip");
    } else {
        call_start_within(core, connect->timeout_us);
    }
    if (!core->ended && connect->is_get) {
        connect_take_get(core);
    } else if (!core->ended) {
        connect_begin_post(core, has_body, has_length, length);
    }
}

void connect_take_body(struct call_core *core, struct slice bytes)
{
    call_note_progress(core, bytes.size);
    while (bytes.size > 0 && !core->ended) {
        size_t step = call_take_message_bytes(core, bytes);

        if (step == 0) {
            call_refuse_err(core, ERR_MALFORMED, NULL);
            return;
        }
        bytes = slice_after(bytes, step);
    }
}

void connect_take_end(struct call_core *core)
{
    core->request_end = true;
    if (core->ended) {
        return;
    }
    ASSERT(connect_call_of(core)->message_begun);
    call_end_unsized_message(core);
    call_take_whole_message(core);
    if (call_end_is_due(core)) {
        call_take_end(core);
    }
}
