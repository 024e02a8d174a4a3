/*
 * connect_answer.c: the end of a call as one response of HTTP: the reply, or an error in JSON.
 * Trailing metadata is sent in fields named trailer-NAME.
 */
#include "server/connect/connect_internal.h"
#include "store/base/assert.h"
#include "store/base/base64.h"

static void connect_add(struct connect_response *response, struct slice name, struct slice value)
{
    ASSERT(response->field_count < CONNECT_FIELDS_MAX);
    response->fields[response->field_count++] = (struct call_field){name, value};
}

/* Adds the services' metadata, with a prefix; values of -bin names in base64. A field is left out
 * if there is no memory for it. */
static void connect_add_all(struct connect_response *response, struct call_core *core,
                            const struct call_field *fields, uint32_t count, const char *prefix)
{
    for (uint32_t i = 0; i < count; i++) {
        struct slice name = arena_printf(&core->arena, "%s%.*s", prefix, (int)fields[i].name.size,
                                         (const char *)fields[i].name.data);
        struct slice value = fields[i].value;
        uint8_t *text = NULL;

        if (name.size >= 4 && memcmp(name.data + name.size - 4, "-bin", 4) == 0) {
            text = arena_alloc(&core->arena, BASE64_DIGITS(value.size) + 1);
            if (text == NULL) {
                continue;
            }
            value = slice_of(text, base64_write(value, BASE64_STANDARD, text));
        }
        if (name.size > 0) {
            connect_add(response, name, value);
        }
    }
}

static void connect_answer_text(const struct connect_call *connect,
                                struct connect_response *response)
{
    response->status = connect->http_status;
    connect_add(response, SLICE("content-type"), connect->type);
    if (connect->extra.name.size > 0) {
        connect_add(response, connect->extra.name, connect->extra.value);
    }
    for (uint32_t i = 0;
         connect->plain_response != NULL && i < connect->plain_response->field_count; i++) {
        const struct plain_field *field = &connect->plain_response->fields[i];

        connect_add(response, field->name, field->value);
    }
    response->body = connect->text;
}

static void connect_answer_reply(struct call_core *core, struct connect_response *response)
{
    response->status = 200;
    connect_add(response, SLICE("content-type"),
                connect_call_of(core)->codec == CONNECT_JSON ? SLICE("application/json")
                                                             : SLICE("application/proto"));
    if (core->reply_is_compressed) {
        connect_add(response, SLICE("content-encoding"), SLICE("gzip"));
    }
    ASSERT(core->pieces != NULL && core->pieces->next == NULL);
    response->body = core->pieces->bytes;
}

static enum err connect_answer_error(struct call_core *core, struct connect_response *response)
{
    struct buffer json;

    buffer_init(&json, &core->arena, 512);
    connect_write_error(core, &json);
    if (!buffer_ok(&json)) {
        return ERR_MEMORY;
    }
    response->status = connect_http_status(core->status.code);
    connect_add(response, SLICE("content-type"), SLICE("application/json"));
    if (connect_call_of(core)->encoding == CONNECT_UNKNOWN_ENCODING) {
        connect_add(response, SLICE("accept-encoding"), SLICE("gzip"));
    }
    response->body = buffer_slice(&json);
    return OK;
}

enum err connect_respond(struct call_core *core, struct connect_response *ret_response)
{
    const struct connect_call *connect = connect_call_of(core);
    enum err err = OK;

    ASSERT(core->ended);
    ret_response->field_count = 0;
    if (connect->http_status != 0) {
        connect_answer_text(connect, ret_response);
        return OK;
    }
    if (core->status.code == STATUS_OK) {
        connect_answer_reply(core, ret_response);
    } else {
        err = connect_answer_error(core, ret_response);
    }
    if (connect->is_get) {
        connect_add(ret_response, SLICE("vary"), SLICE("Accept-Encoding"));
    }
    connect_add_all(ret_response, core, core->leading, core->leading_count, "");
    connect_add_all(ret_response, core, core->trailing, core->trailing_count, "trailer-");
    return err;
}
