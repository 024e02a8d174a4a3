/*
 * http_json.c: converts messages of calls in proto JSON.
 */
#include "server/codec/proto_json.h"
#include "server/http/http_protocol.h"

enum err http_convert_json(const struct call_core *core, struct slice sent, struct arena *arena,
                           struct fault *fault, struct slice *ret_message)
{
    struct ctx ctx = {.arena = arena, .fault = fault};
    struct buffer wire;
    enum err err = OK;

    buffer_init(&wire, arena, sent.size);
    /* An empty body is an empty message, like in proto. */
    err = proto_json_read(&ctx, core->call.method->request, sent.size > 0 ? sent : SLICE("{}"),
                          false, &wire);
    if (err == OK) {
        *ret_message = buffer_slice(&wire);
    }
    return err;
}

enum err http_write_json(struct call_core *core, struct slice message, struct buffer *json)
{
    const struct proto_json_style style = {.indent = 0};
    struct fault fault;
    struct ctx ctx = {.arena = json->arena, .fault = &fault};

    fault_init(&fault, json->arena);
    return proto_json_write(&ctx, core->call.method->reply, message, &style, json);
}
