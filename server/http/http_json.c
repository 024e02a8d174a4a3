/*
 * http_json.c: converts messages of calls in proto JSON.
 */
#include "server/codec/proto_json.h"
#include "server/http/http_protocol.h"

bool http_read_json(struct call_core *core, struct slice sent, struct slice *ret_message)
{
    struct arena *arena = call_input_arena(core);
    struct fault fault;
    struct ctx ctx = {.arena = arena, .fault = &fault};
    struct buffer wire;
    enum err err = OK;

    if (sent.size > HTTP_JSON_BYTES_MAX) {
        call_refuse_text(core, ERR_TOO_LARGE,
                         arena_printf(&core->arena,
                                      "message: %zu bytes of JSON; expected at most %zu, or "
                                      "messages in proto",
                                      sent.size, HTTP_JSON_BYTES_MAX));
        return false;
    }
    fault_init(&fault, &core->arena);
    buffer_init(&wire, arena, sent.size);
    /* An empty body is an empty message, like in proto. */
    err = proto_json_read(&ctx, core->call.method->request, sent.size > 0 ? sent : SLICE("{}"),
                          false, &wire);
    if (err != OK) {
        call_refuse_fault(core, err, &fault);
        return false;
    }
    *ret_message = buffer_slice(&wire);
    return true;
}

enum err http_write_json(struct call_core *core, struct slice message, struct buffer *json)
{
    const struct proto_json_style style = {.indent = 0};
    struct fault fault;
    struct ctx ctx = {.arena = json->arena, .fault = &fault};

    fault_init(&fault, json->arena);
    return proto_json_write(&ctx, core->call.method->reply, message, &style, json);
}
