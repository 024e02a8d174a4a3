/*
 * connect_message.c: messages in proto and JSON, and what a call asks of its protocol.
 */
#include "server/codec/proto_json.h"
#include "server/connect/connect_internal.h"
#include "store/base/base64.h"

static void connect_on_end(struct call_core *core)
{
    if (core->stream != NULL) {
        connect_call_of(core)->ready(core->stream);
    }
}

/* A unary call has no replies before its end. */
static void connect_on_replies(struct call_core *core)
{
    (void)core;
}

/* The message was inflated on the pool: only the request's end may be due. */
static void connect_go_on(struct call_core *core)
{
    if (call_end_is_due(core)) {
        call_take_end(core);
    }
}

static bool connect_read_value(struct arena *arena, struct slice name, struct slice sent,
                               struct slice *ret_value)
{
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (name.size < 4 || memcmp(name.data + name.size - 4, "-bin", 4) != 0) {
        *ret_value = sent;
        return true;
    }
    bytes = arena_alloc(arena, sent.size + 1);
    if (bytes == NULL || !base64_read(sent, BASE64_STANDARD | BASE64_PADDED, bytes, &size)) {
        return false;
    }
    *ret_value = slice_of(bytes, size);
    return true;
}

/* Returns the faults as one text: a caller mistake in JSON concerns a field, or its form. */
static struct slice connect_fault_text(struct arena *arena, const struct fault *fault)
{
    struct slice field = {NULL, 0};

    if (fault->count == 0) {
        return fault->message;
    }
    field = fault->entries[0].field;
    return arena_printf(arena, "%.*s%s%.*s", (int)field.size,
                        field.size > 0 ? (const char *)field.data : "", field.size > 0 ? ": " : "",
                        (int)fault->entries[0].description.size,
                        (const char *)fault->entries[0].description.data);
}

static bool connect_read_json(struct call_core *core, struct slice sent, struct slice *ret_message)
{
    struct fault fault;
    struct ctx ctx = {.arena = &core->arena, .fault = &fault};
    struct buffer wire;
    enum err err = OK;

    if (sent.size > CONNECT_JSON_BYTES_MAX) {
        call_refuse_text(core, ERR_TOO_LARGE,
                         arena_printf(&core->arena,
                                      "message: %zu bytes of JSON; expected at most %zu, or "
                                      "content-type application/proto",
                                      sent.size, CONNECT_JSON_BYTES_MAX));
        return false;
    }
    fault_init(&fault, &core->arena);
    buffer_init(&wire, &core->arena, sent.size);
    /* An empty body is an empty message, as in proto. */
    err = proto_json_read(&ctx, core->call.method->request, sent.size > 0 ? sent : SLICE("{}"),
                          false, &wire);
    if (err != OK) {
        call_refuse_text(core, err, connect_fault_text(&core->arena, &fault));
        return false;
    }
    *ret_message = buffer_slice(&wire);
    return true;
}

static enum err connect_write_json(struct call_core *core, struct slice message,
                                   struct buffer *json)
{
    const struct proto_json_style style = {.indent = 0};
    struct fault fault;
    struct ctx ctx = {.arena = &core->arena, .fault = &fault};

    fault_init(&fault, &core->arena);
    return proto_json_write(&ctx, core->call.method->reply, message, &style, json);
}

const struct call_protocol connect_proto_protocol = {
    .state_bytes = sizeof(struct connect_call),
    .read_value = connect_read_value,
    .replies = connect_on_replies,
    .finished = connect_on_end,
    .expired = connect_on_end,
    .go_on = connect_go_on,
};

const struct call_protocol connect_json_protocol = {
    .state_bytes = sizeof(struct connect_call),
    .read_value = connect_read_value,
    .read_message = connect_read_json,
    .write_message = connect_write_json,
    .replies = connect_on_replies,
    .finished = connect_on_end,
    .expired = connect_on_end,
    .go_on = connect_go_on,
};
