/*
 * call.c: see call.h. Interprets a response: header fields, the rules for a missing or malformed
 * status, and the number of messages of each kind of method.
 */
#include "client/call.h"

#include "client/header.h"

#include <stdio.h>

/* Maximum comma-separated values of a response's `-bin` field; a longer list is one value. */
#define BINARY_VALUES_MAX 16

static enum err call_add_field(struct client_call *call, struct slice name, struct slice value)
{
    struct client_metadata *field = NULL;

    if (call->field_count == CLIENT_HEADER_FIELDS_MAX) {
        return ERR_TOO_LARGE;
    }
    field = &call->fields[call->field_count];
    if (!arena_copy(&call->arena, name, &field->key) ||
        !arena_copy(&call->arena, value, &field->value)) {
        return ERR_MEMORY;
    }
    call->field_count++;
    return OK;
}

static enum err call_decode_binary(struct client_call *call, struct slice value,
                                   struct slice *ret_bytes)
{
    uint8_t *bytes = arena_alloc(&call->arena, value.size + 1);
    size_t size = 0;

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    /* An invalid base64 value is kept as received: a malformed field must not fail the call. */
    *ret_bytes = client_base64_decode(value, bytes, &size) ? slice_of(bytes, size) : value;
    return OK;
}

static enum err call_add_binary(struct client_call *call, struct slice name, struct slice value)
{
    enum err err = OK;

    for (unsigned count = 1; err == OK; count++) {
        const uint8_t *comma = count < BINARY_VALUES_MAX && value.size > 0
                                   ? memchr(value.data, ',', value.size)
                                   : NULL;
        struct slice piece =
            comma == NULL ? value : slice_of(value.data, (size_t)(comma - value.data));
        struct slice bytes = {NULL, 0};

        err = call_decode_binary(call, piece, &bytes);
        if (err == OK) {
            err = call_add_field(call, name, bytes);
        }
        if (comma == NULL) {
            break;
        }
        value = slice_after(value, piece.size + 1);
    }
    return err;
}

static enum err call_take_message(struct client_call *call, struct slice value)
{
    uint8_t *text = arena_alloc(&call->arena, value.size + 1);

    if (text == NULL) {
        return ERR_MEMORY;
    }
    call->message = slice_of(text, client_percent_decode(value, text));
    return OK;
}

static enum err call_take_details(struct client_call *call, struct slice value)
{
    uint8_t *bytes = arena_alloc(&call->arena, value.size + 1);
    size_t size = 0;

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    if (client_base64_decode(value, bytes, &size)) {
        call->details = slice_of(bytes, size);
    }
    return OK;
}

static void call_take_http_status(struct client_call *call, struct slice value)
{
    uint32_t status = 0;

    call->http_status = 0;
    for (size_t at = 0; at < value.size && at < 3; at++) {
        status = status * 10 + (uint32_t)(value.data[at] - '0');
    }
    call->http_status = (int)status;
}

enum err call_take_field(struct client_call *call, struct slice name, struct slice value)
{
    call->header_bytes += name.size + value.size;
    if (call->header_bytes > CLIENT_HEADER_BYTES_MAX) {
        return ERR_TOO_LARGE;
    }
    if (slice_equal(name, SLICE(":status"))) {
        call_take_http_status(call, value);
        return OK;
    }
    if (call->http_status < 200) {
        return OK; /* an interim response is ignored */
    }
    if (slice_equal(name, SLICE("content-type"))) {
        call->grpc_content = slice_starts_with(value, SLICE("application/grpc"));
        return OK;
    }
    if (slice_equal(name, SLICE("grpc-status"))) {
        call->has_code = client_code_read(value, &call->code);
        return OK;
    }
    if (slice_equal(name, SLICE("grpc-message"))) {
        return call_take_message(call, value);
    }
    if (slice_equal(name, SLICE("grpc-status-details-bin"))) {
        return call_take_details(call, value);
    }
    if (slice_equal(name, SLICE("grpc-encoding"))) {
        call->reader.gzip = slice_equal(value, SLICE("gzip"));
        call->unknown_encoding = !call->reader.gzip && !slice_equal(value, SLICE("identity"));
        return OK;
    }
    if (client_key_is_binary(name)) {
        return call_add_binary(call, name, value);
    }
    return call_add_field(call, name, value);
}

void call_set_end(struct client_call *call, uint32_t code, const char *message, bool from_server)
{
    if (call->ended) {
        return;
    }
    call->ended = true;
    call->code = code;
    call->from_server = from_server;
    call->details = slice_of(NULL, 0);
    if (!arena_copy(&call->arena, slice_text(message), &call->message)) {
        call->message = slice_of(NULL, 0);
    }
}

bool call_headers_done(struct client_call *call)
{
    char text[128];

    call->headers_done = true;
    if (call->has_code) {
        return true; /* the response has only trailers: the end of the stream follows */
    }
    if (call->http_status != 200) {
        (void)snprintf(text, sizeof(text), "the server answered with HTTP status %d, not gRPC",
                       call->http_status);
        call_set_end(call, client_code_of_http(call->http_status), text, true);
    } else if (!call->grpc_content) {
        call_set_end(call, CLIENT_CODE_UNKNOWN,
                     "the answer's content-type is not application/grpc: is this a gRPC server?",
                     true);
    } else if (call->unknown_encoding) {
        call_set_end(call, CLIENT_CODE_INTERNAL,
                     "the answer is compressed in a way that was not offered", true);
    }
    return !call->ended;
}

void call_conclude(struct client_call *call)
{
    if (call->ended) {
        return;
    }
    if (!call->has_code) {
        call_set_end(call, CLIENT_CODE_UNKNOWN, "the server ended the answer without a gRPC status",
                     true);
        return;
    }
    if (call->code == CLIENT_CODE_OK && !client_reader_between(&call->reader)) {
        call_set_end(call, CLIENT_CODE_INTERNAL, "the answer ends in the middle of a message",
                     true);
        return;
    }
    if (call->code == CLIENT_CODE_OK && method_has_one_reply(call->method) &&
        call->reply_count == 0) {
        call_set_end(call, CLIENT_CODE_UNIMPLEMENTED, "the server answered OK without a message",
                     true);
        return;
    }
    call->ended = true;
    call->from_server = true;
}

static void call_fail_reading(struct client_call *call, enum err err)
{
    char text[128];

    if (err == ERR_TOO_LARGE) {
        (void)snprintf(text, sizeof(text),
                       "a message of the answer is larger than the limit of %zu bytes",
                       call->reader.message_bytes_max);
        call_set_end(call, CLIENT_CODE_RESOURCE_EXHAUSTED, text, false);
    } else if (err == ERR_MALFORMED) {
        call_set_end(call, CLIENT_CODE_INTERNAL, "the answer's framing or compression is damaged",
                     false);
    } else {
        call_set_end(call, CLIENT_CODE_RESOURCE_EXHAUSTED, "out of memory for the answer", false);
    }
}

struct slice call_take_bytes(struct client_call *call, struct slice bytes)
{
    /* A message of no bytes is complete with its prefix, so at least five bytes go each turn. */
    while (bytes.size > 0 && !call->ended && !call->paused) {
        struct slice message = {NULL, 0};
        bool complete = false;
        enum err err = client_reader_take(&call->reader, &bytes, &complete, &message);

        if (err != OK) {
            call_fail_reading(call, err);
            break;
        }
        if (!complete) {
            continue;
        }
        call->reply_count++;
        if (method_has_one_reply(call->method) && call->reply_count > 1) {
            call_set_end(call, CLIENT_CODE_UNIMPLEMENTED,
                         "the server answered with more than one message", true);
            break;
        }
        call->handlers.on_reply(call->handlers.user, message);
    }
    return bytes;
}
