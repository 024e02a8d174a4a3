/*
 * rest_request.c: converts a request of a route to a call, and writes its response: plain JSON, or
 * the call's error in the form of Connect.
 */
#include "server/connect/connect_error.h"
#include "server/rest/rest_internal.h"
#include "store/base/assert.h"

/* The protocol's state of a call. */
struct rest_call {
    struct rest_match match;
    bool begun; /* the head was sent before the end, so an error cannot be sent any more */
};

static struct rest_call *rest_call_of(const struct call_core *core)
{
    return (struct rest_call *)http_state(core);
}

static enum err rest_convert(const struct call_core *core, struct slice sent, struct arena *arena,
                             struct fault *fault, struct slice *ret_message)
{
    struct ctx ctx = {.arena = arena, .fault = fault};
    struct buffer wire;
    enum err err = OK;

    buffer_init(&wire, arena, sent.size + 64);
    err = rest_read_request(&ctx, &rest_call_of(core)->match, http_exchange_of(core)->query, sent,
                            &wire);
    if (err == OK) {
        *ret_message = buffer_slice(&wire);
    }
    return err;
}

static enum err rest_write_message(struct call_core *core, struct slice message,
                                   struct buffer *json)
{
    struct fault fault;
    struct ctx ctx = {.arena = json->arena, .fault = &fault};

    fault_init(&fault, json->arena);
    return rest_write_reply(&ctx, rest_call_of(core)->match.route, message, json);
}

static const struct call_protocol rest_calls = {
    HTTP_CALL_FUNCTIONS,
    .convert = rest_convert,
    .write_message = rest_write_message,
};

static enum rest_verb rest_verb_of(const struct call_core *core)
{
    return http_exchange_of(core)->verb == HTTP_GET ? REST_GET : REST_POST;
}

static bool rest_selects(const struct call_core *core)
{
    struct rest_match match;

    if (core->call.method != NULL) {
        return false;
    }
    rest_find(http_exchange_of(core)->path, rest_verb_of(core), &match);
    return match.route != NULL || match.has_other_verb;
}

/* Responds to a request with a verb that the path does not support; false if it supports it. */
static bool rest_refuse_verb(struct call_core *core)
{
    enum http_verb verb = http_exchange_of(core)->verb;
    struct rest_match get;
    struct rest_match post;

    rest_find(http_exchange_of(core)->path, REST_GET, &get);
    rest_find(http_exchange_of(core)->path, REST_POST, &post);
    if ((verb == HTTP_GET && get.route != NULL) || (verb == HTTP_POST && post.route != NULL)) {
        return false;
    }
    http_answer_field(core, SLICE("allow"),
                      post.route == NULL  ? SLICE("GET")
                      : get.route == NULL ? SLICE("POST")
                                          : SLICE("GET, POST"));
    http_answer_text(core, 405, "method: not allowed; expected a verb of /openapi.json\n");
    return true;
}

/* Responds to a body that the route does not accept; false if it accepts it. */
static bool rest_refuse_body(struct call_core *core)
{
    struct slice coding = http_field(core, SLICE("content-encoding"));
    struct slice type = http_content_type(core);

    if (!http_exchange_of(core)->body.has_body) {
        return false;
    }
    if (!rest_call_of(core)->match.route->has_body ||
        !slice_equal(type, SLICE("application/json"))) {
        http_answer_field(core, SLICE("accept-post"), SLICE("application/json"));
        http_answer_text(core, 415,
                         "content-type: unsupported; expected application/json in a POST, and no "
                         "body in a GET\n");
        return true;
    }
    if (coding.size > 0 && !slice_equal(coding, SLICE("gzip"))) {
        http_answer_field(core, SLICE("accept-encoding"), SLICE("gzip"));
        http_answer_text(core, 415, "content-encoding: unsupported; expected identity or gzip\n");
        return true;
    }
    return false;
}

static void rest_start(struct call_core *core)
{
    struct rest_call *rest = rest_call_of(core);
    const struct http_body *body = &http_exchange_of(core)->body;
    bool compressed = body->has_body && http_field(core, SLICE("content-encoding")).size > 0;

    if (rest_refuse_verb(core)) {
        return;
    }
    rest_find(http_exchange_of(core)->path, rest_verb_of(core), &rest->match);
    if (rest_refuse_body(core)) {
        return;
    }
    core->accepts_gzip = http_list_has_gzip(http_field(core, SLICE("accept-encoding")));
    core->call.method = rest->match.route->method;
    core->protocol = &rest_calls;
    call_start_within(core, INT64_MAX);
    if (core->ended) {
        return;
    }
    if (body->has_body && !body->has_length) {
        call_begin_unsized_message(core, compressed);
    } else {
        call_begin_message(core, body->length > UINT32_MAX ? UINT32_MAX : (uint32_t)body->length,
                           compressed);
    }
}

static size_t rest_take_body(struct call_core *core, struct slice bytes)
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

static void rest_take_end(struct call_core *core)
{
    call_end_unsized_message(core);
    if (core->input.size < core->input.message_bytes) {
        call_refuse_err(core, ERR_MALFORMED,
                        "request: ended before its announced length; expected all of it");
        return;
    }
    call_take_whole_message(core);
}

static enum err rest_head(struct call_core *core, struct http_head *head)
{
    bool failed = core->ended && core->status.code != STATUS_OK;

    rest_call_of(core)->begun = !core->ended;
    head->status = failed ? connect_http_status(core->status.code) : 200;
    http_add(head, SLICE("content-type"), SLICE("application/json"));
    if (!failed && core->reply_is_compressed) {
        http_add(head, SLICE("content-encoding"), SLICE("gzip"));
    }
    http_add_metadata(head, core, core->leading, core->leading_count, "");
    http_add_metadata(head, core, core->trailing, core->trailing_count, "");
    return OK;
}

/* A stream that fails after its head leaves an incomplete JSON text. */
static enum err rest_tail(struct call_core *core, struct slice *ret_tail)
{
    struct buffer tail;

    if (core->status.code == STATUS_OK || rest_call_of(core)->begun) {
        return OK;
    }
    buffer_init(&tail, &core->arena, 512);
    connect_write_error(core, &tail);
    *ret_tail = buffer_slice(&tail);
    return buffer_ok(&tail) ? OK : ERR_MEMORY;
}

const struct http_protocol rest_protocol = {
    .state_bytes = sizeof(struct rest_call),
    .selects = rest_selects,
    .start = rest_start,
    .take_body = rest_take_body,
    .take_end = rest_take_end,
    .head = rest_head,
    .tail = rest_tail,
};
