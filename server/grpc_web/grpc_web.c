/*
 * grpc_web.c: see grpc_web.h.
 */
#include "server/grpc_web/grpc_web.h"

#include "server/call/envelope.h"
#include "server/grpc/grpc_status.h"
#include "server/grpc/grpc_text.h"
#include "server/grpc_web/grpc_web_text.h"
#include "store/base/base64.h"
#include "store/base/bytes.h"

#define WEB_TYPE "application/grpc-web"
/* The flag of the envelope with the trailers. */
#define WEB_TRAILERS 0x80

/* The protocol's state of a call. */
struct grpc_web_call {
    bool is_text; /* the request's body is in base64 */
    bool answers_text; /* the response's body is in base64 */
    bool is_json;
    bool type_is_bad;
    bool encoding_is_unknown;
    bool trailers_only; /* the status is in the response's head */
    struct call_envelopes envelopes;
    size_t text_taken; /* characters of the request whose bytes wait in `text` */
    size_t text_at; /* bytes in `text` that the call took */
    struct grpc_web_text text;
};

static struct grpc_web_call *web_call_of(const struct call_core *core)
{
    return http_state(core);
}

static enum err web_wrap_reply(struct call_core *core, struct slice reply, struct buffer *sent)
{
    (void)core;
    if (buffer_reserve(sent, BASE64_PADDED_BYTES(reply.size))) {
        sent->size += base64_write(reply, BASE64_STANDARD | BASE64_PADDED, sent->data + sent->size);
    }
    return OK;
}

#define WEB_FUNCTIONS                                                                              \
    HTTP_CALL_FUNCTIONS, .reply_head_bytes = CALL_ENVELOPE_BYTES, .write_head = call_write_envelope

/* Indexed by whether messages are JSON, and whether the response is text. */
static const struct call_protocol web_protocols[2][2] = {
    {{WEB_FUNCTIONS}, {WEB_FUNCTIONS, .wrap_reply = web_wrap_reply}},
    {{WEB_FUNCTIONS, .convert = http_convert_json, .write_message = http_write_json},
     {WEB_FUNCTIONS, .convert = http_convert_json, .write_message = http_write_json,
      .wrap_reply = web_wrap_reply}},
};

static bool web_selects(const struct call_core *core)
{
    return slice_starts_with(http_content_type(core), SLICE(WEB_TYPE));
}

/* Reads the forms of request and response from the content type and `accept`. */
static void web_read_type(struct call_core *core)
{
    struct grpc_web_call *web = web_call_of(core);
    struct slice rest = slice_after(http_content_type(core), SLICE(WEB_TYPE).size);

    if (slice_starts_with(rest, SLICE("-text"))) {
        web->is_text = true;
        rest = slice_after(rest, SLICE("-text").size);
    }
    web->is_json = slice_equal(rest, SLICE("+json"));
    web->type_is_bad = !web->is_json && rest.size > 0 && !slice_equal(rest, SLICE("+proto"));
    web->answers_text = web->is_text || slice_starts_with(http_field(core, SLICE("accept")),
                                                          SLICE(WEB_TYPE "-text"));
}

/* Responds to a request that is not a call; false if it is one. */
static bool web_refuse_http(struct call_core *core)
{
    const struct method_info *method = core->call.method;
    const struct http_exchange *exchange = http_exchange_of(core);

    if (exchange->verb != HTTP_POST) {
        http_answer_field(core, SLICE("allow"), SLICE("POST"));
        http_answer_text(core, 405, "method: gRPC-Web calls are POST; expected POST\n");
        return true;
    }
    if (web_call_of(core)->type_is_bad) {
        http_answer_text(core, 415,
                         "content-type: unsupported; expected application/grpc-web or "
                         "application/grpc-web-text, possibly with +proto or +json\n");
        return true;
    }
    if (method != NULL && method->stream == METHOD_BIDI_STREAM && !exchange->version->is_http2) {
        http_answer_text(core, 505,
                         "path: a method with streams in both directions; expected HTTP/2\n");
        return true;
    }
    return false;
}

static void web_read_encodings(struct call_core *core)
{
    struct grpc_web_call *web = web_call_of(core);
    struct slice encoding = http_field(core, SLICE("grpc-encoding"));

    core->accepts_gzip =
        grpc_list_has(http_field(core, SLICE("grpc-accept-encoding")), SLICE("gzip"));
    web->envelopes.gzip = slice_equal(encoding, SLICE("gzip"));
    web->encoding_is_unknown =
        encoding.size > 0 && !web->envelopes.gzip && !slice_equal(encoding, SLICE("identity"));
}

static void web_start(struct call_core *core)
{
    struct grpc_web_call *web = web_call_of(core);
    struct slice timeout = http_field(core, SLICE("grpc-timeout"));
    int64_t timeout_us = INT64_MAX;

    web_read_type(core);
    if (web_refuse_http(core)) {
        return;
    }
    core->protocol = &web_protocols[web->is_json][web->answers_text];
    web_read_encodings(core);
    if (core->call.method == NULL) {
        call_refuse_err(core, ERR_UNIMPLEMENTED, NULL);
    } else if (web->encoding_is_unknown) {
        call_refuse_err(core, ERR_UNIMPLEMENTED,
                        "grpc-encoding: unsupported; expected identity or gzip");
    } else if (timeout.data != NULL && grpc_timeout_parse(timeout, &timeout_us) != OK) {
        call_refuse_err(
            core, ERR_INVALID,
            "grpc-timeout: invalid; expected 1 to 8 digits and one of H, M, S, m, u, n");
    } else {
        call_start_within(core, timeout_us);
    }
}

/* Consumes characters whose bytes the call has all taken; the others are passed again. */
static size_t web_take_text(struct call_core *core, struct slice chars)
{
    struct grpc_web_call *web = web_call_of(core);
    size_t taken = 0;

    while (taken < chars.size && !call_input_stopped(core)) {
        if (web->text_taken == 0 &&
            !grpc_web_text_decode(&web->text, slice_after(chars, taken), &web->text_taken)) {
            call_refuse_err(core, ERR_MALFORMED,
                            "request: cannot be decoded; expected base64, padded or not");
            break;
        }
        web->text_at += call_take_envelopes(
            core, &web->envelopes,
            slice_of(web->text.bytes + web->text_at, web->text.size - web->text_at));
        if (web->text_at == web->text.size) {
            taken += web->text_taken;
            web->text_taken = 0;
            web->text_at = 0;
        }
    }
    return taken;
}

static size_t web_take_body(struct call_core *core, struct slice bytes)
{
    struct grpc_web_call *web = web_call_of(core);

    return web->is_text ? web_take_text(core, bytes)
                        : call_take_envelopes(core, &web->envelopes, bytes);
}

static void web_take_end(struct call_core *core)
{
    if (!grpc_web_text_is_whole(&web_call_of(core)->text)) {
        call_refuse_err(core, ERR_MALFORMED,
                        "request: ended inside a group of base64; expected four characters");
    }
}

static struct slice web_content_type(const struct grpc_web_call *web)
{
    if (web->answers_text) {
        return web->is_json ? SLICE(WEB_TYPE "-text+json") : SLICE(WEB_TYPE "-text+proto");
    }
    return web->is_json ? SLICE(WEB_TYPE "+json") : SLICE(WEB_TYPE "+proto");
}

static enum err web_head(struct call_core *core, struct http_head *head)
{
    struct grpc_web_call *web = web_call_of(core);
    struct grpc_block block;

    head->status = 200;
    http_add(head, SLICE("content-type"), web_content_type(web));
    if (web->encoding_is_unknown) {
        http_add(head, SLICE("grpc-accept-encoding"), SLICE("identity,gzip"));
    }
    if (call_compresses(core)) {
        http_add(head, SLICE("grpc-encoding"), SLICE("gzip"));
    }
    http_add_metadata(head, core, core->leading, core->leading_count, "");
    /* curl over HTTP/2 misses the end of a response without a body that comes before the request's. */
    web->trailers_only = core->ended && core->request_end && core->status.code != STATUS_OK &&
                         core->pieces == NULL && core->leading_count == 0;
    if (!web->trailers_only) {
        return OK;
    }
    block.count = 0;
    grpc_block_add_status(&block, core);
    for (size_t i = 0; i < block.count; i++) {
        http_add(head, block.fields[i].name, block.fields[i].value);
    }
    return OK;
}

/* Writes the trailers as an envelope. */
static void web_write_trailers(struct call_core *core, struct buffer *trailers)
{
    static const uint8_t head[CALL_ENVELOPE_BYTES] = {WEB_TRAILERS};
    struct grpc_block block;

    block.count = 0;
    grpc_block_add_status(&block, core);
    buffer_append(trailers, slice_of(head, sizeof(head)));
    for (size_t i = 0; i < block.count; i++) {
        buffer_append(trailers, block.fields[i].name);
        buffer_append(trailers, SLICE(": "));
        buffer_append(trailers, block.fields[i].value);
        buffer_append(trailers, SLICE("\r\n"));
    }
    if (buffer_ok(trailers)) {
        bytes_put_be32(trailers->data + 1, (uint32_t)(trailers->size - CALL_ENVELOPE_BYTES));
    }
}

static enum err web_tail(struct call_core *core, struct slice *ret_tail)
{
    const struct grpc_web_call *web = web_call_of(core);
    struct buffer trailers;
    struct buffer text;

    if (web->trailers_only) {
        return OK;
    }
    buffer_init(&trailers, &core->arena, 512);
    web_write_trailers(core, &trailers);
    if (!buffer_ok(&trailers)) {
        return ERR_MEMORY;
    }
    *ret_tail = buffer_slice(&trailers);
    if (web->answers_text) {
        buffer_init(&text, &core->arena, BASE64_PADDED_BYTES(trailers.size));
        (void)web_wrap_reply(core, buffer_slice(&trailers), &text);
        *ret_tail = buffer_slice(&text);
        return buffer_ok(&text) ? OK : ERR_MEMORY;
    }
    return OK;
}

const struct http_protocol grpc_web_protocol = {
    .state_bytes = sizeof(struct grpc_web_call),
    .selects = web_selects,
    .start = web_start,
    .take_body = web_take_body,
    .take_end = web_take_end,
    .head = web_head,
    .tail = web_tail,
};
