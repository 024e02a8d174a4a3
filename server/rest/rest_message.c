/*
 * rest_message.c: converts requests and replies of routes between plain JSON and protobuf. Values
 * of path and query follow those of the body, and replace them if both set the same field.
 */
#include "server/codec/proto_json.h"
#include "server/rest/rest_internal.h"
#include "store/base/wire.h"

static const struct field_info *rest_named(const struct message_info *message, struct slice name)
{
    for (uint32_t i = 0; i < message->count; i++) {
        if (slice_equal(message->fields[i].name, name)) {
            return &message->fields[i];
        }
    }
    return NULL;
}

/* Completes the paths of faults in a body, which are relative to its field. */
static void rest_complete_paths(struct ctx *ctx, const struct field_info *field, size_t first)
{
    struct fault *fault = ctx->fault;

    for (size_t i = first; i < fault->count; i++) {
        struct slice path = fault->entries[i].field;

        fault->entries[i].field = arena_printf(
            fault->arena, "%.*s%s%.*s", (int)field->name.size, (const char *)field->name.data,
            path.size > 0 ? "." : "", (int)path.size, (const char *)path.data);
    }
}

/* Reads a body that is one field of the request: a message, or a JSON text. */
static enum err rest_read_field(struct ctx *ctx, const struct field_info *field, struct slice body,
                                struct buffer *wire)
{
    size_t faults_before = ctx->fault->count;
    struct buffer inner;
    enum err err = OK;

    if (field->type == FIELD_STRING) {
        wire_put_bytes(wire, field->number, body);
        return buffer_ok(wire) ? OK : ERR_MEMORY;
    }
    buffer_init(&inner, ctx->arena, body.size);
    err = proto_json_read_plain(ctx, field->message, body, false, &inner);
    rest_complete_paths(ctx, field, faults_before);
    if (err == OK) {
        wire_put_bytes(wire, field->number, buffer_slice(&inner));
    }
    return err != OK || buffer_ok(wire) ? err : ERR_MEMORY;
}

static enum err rest_read_body(struct ctx *ctx, const struct rest_route *route, struct slice body,
                               struct buffer *wire)
{
    const struct message_info *request = route->method->request;

    if (!route->has_body) {
        return OK;
    }
    body = body.size > 0 ? body : SLICE("{}");
    if (route->body.size > 0) {
        return rest_read_field(ctx, rest_named(request, route->body), body, wire);
    }
    return proto_json_read_plain(ctx, request, body, false, wire);
}

enum err rest_read_request(struct ctx *ctx, const struct rest_match *match, struct slice query,
                           struct slice body, struct buffer *wire)
{
    struct buffer parameters;
    enum err err = OK;

    buffer_init(&parameters, ctx->arena, 256);
    err = rest_write_parameters(ctx, match, query, &parameters);
    if (err == OK || err == ERR_INVALID) {
        err = rest_read_body(ctx, match->route, body, wire);
    }
    if (err != OK && err != ERR_INVALID) {
        return err;
    }
    /* The result has the faults of all three. */
    return proto_json_read_plain(ctx, match->route->method->request, buffer_slice(&parameters),
                                 true, wire);
}

/* Returns the bytes of a field of the reply; empty if it is absent. */
static struct slice rest_find_field(struct slice message, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    struct slice found = {NULL, 0};

    while (wire_next(&reader, &field) == OK) {
        if (field.number == number && field.type == WIRE_BYTES) {
            found = field.bytes;
        }
    }
    return found;
}

enum err rest_write_reply(struct ctx *ctx, const struct rest_route *route, struct slice message,
                          struct buffer *json)
{
    const struct message_info *reply = route->method->reply;
    const struct proto_json_style style = {
        .plain = true, .members = route->members, .member_count = route->member_count};

    /* A stream's replies are pieces of one JSON text, in their first field. */
    if (route->method->stream != METHOD_UNARY) {
        buffer_append(json, rest_find_field(message, reply->fields[0].number));
        return buffer_ok(json) ? OK : ERR_MEMORY;
    }
    if (route->response_body.size > 0) {
        const struct field_info *field = rest_named(reply, route->response_body);

        message = rest_find_field(message, field->number);
        reply = field->message;
    }
    return proto_json_write(ctx, reply, message, &style, json);
}
