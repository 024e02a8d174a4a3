/*
 * connect_answer.c: writes the response of a call: for a unary one, the reply or an error in JSON,
 * with trailing metadata in fields named trailer-NAME; for a stream, the replies, followed by one
 * message with the error and the trailing metadata.
 */
#include "server/connect/connect_internal.h"
#include "store/base/bytes.h"
#include "store/base/json.h"

/* Flags of the envelope that ends a stream. */
#define CONNECT_END_STREAM 2

static void connect_unary_head(struct call_core *core, struct http_head *head)
{
    const struct connect_call *connect = connect_call_of(core);

    if (core->status.code == STATUS_OK) {
        head->status = 200;
        http_add(head, SLICE("content-type"),
                 connect->codec == CONNECT_JSON ? SLICE("application/json")
                                                : SLICE("application/proto"));
        if (core->reply_is_compressed) {
            http_add(head, SLICE("content-encoding"), SLICE("gzip"));
        }
    } else {
        head->status = connect_http_status(core->status.code);
        http_add(head, SLICE("content-type"), SLICE("application/json"));
        if (connect->encoding == CONNECT_UNKNOWN_ENCODING) {
            http_add(head, SLICE("accept-encoding"), SLICE("gzip"));
        }
    }
    if (connect->is_get) {
        http_add(head, SLICE("vary"), SLICE("Accept-Encoding"));
    }
    http_add_metadata(head, core, core->leading, core->leading_count, "");
    http_add_metadata(head, core, core->trailing, core->trailing_count, "trailer-");
}

static void connect_stream_head(struct call_core *core, struct http_head *head)
{
    head->status = 200;
    http_add(head, SLICE("content-type"),
             connect_call_of(core)->codec == CONNECT_JSON ? SLICE("application/connect+json")
                                                          : SLICE("application/connect+proto"));
    http_add(head, SLICE("connect-accept-encoding"), SLICE("gzip"));
    if (call_compresses(core)) {
        http_add(head, SLICE("connect-content-encoding"), SLICE("gzip"));
    }
    http_add_metadata(head, core, core->leading, core->leading_count, "");
}

static enum err connect_head(struct call_core *core, struct http_head *head)
{
    if (connect_call_of(core)->is_stream) {
        connect_stream_head(core, head);
    } else {
        connect_unary_head(core, head);
    }
    return OK;
}

/* Appends the values of a field's name, unless an earlier field had it. */
static void connect_write_values(struct call_core *core, uint32_t first, struct buffer *json)
{
    const struct call_field *fields = core->trailing;
    struct slice name = fields[first].name;
    bool is_binary = name.size >= 4 && memcmp(name.data + name.size - 4, "-bin", 4) == 0;

    for (uint32_t i = 0; i < first; i++) {
        if (slice_equal(fields[i].name, name)) {
            return;
        }
    }
    buffer_append(json, first > 0 ? SLICE(",") : SLICE(""));
    json_write_string(json, name, false);
    buffer_append(json, SLICE(":["));
    for (uint32_t i = first; i < core->trailing_count; i++) {
        if (!slice_equal(fields[i].name, name)) {
            continue;
        }
        buffer_append(json, i > first ? SLICE(",") : SLICE(""));
        if (is_binary) {
            connect_write_base64(json, fields[i].value);
        } else {
            json_write_string(json, fields[i].value, false);
        }
    }
    buffer_append_byte(json, ']');
}

/* Writes the message that ends a stream: the error, if there is one, and trailing metadata. */
static void connect_write_end(struct call_core *core, struct buffer *json)
{
    bool failed = core->status.code != STATUS_OK;

    buffer_append_byte(json, '{');
    if (failed) {
        buffer_append(json, SLICE("\"error\":"));
        connect_write_error(core, json);
    }
    if (core->trailing_count > 0) {
        buffer_append(json, failed ? SLICE(",\"metadata\":{") : SLICE("\"metadata\":{"));
        for (uint32_t i = 0; i < core->trailing_count; i++) {
            connect_write_values(core, i, json);
        }
        buffer_append_byte(json, '}');
    }
    buffer_append_byte(json, '}');
}

static enum err connect_tail(struct call_core *core, struct slice *ret_tail)
{
    static const uint8_t head[CALL_ENVELOPE_BYTES] = {CONNECT_END_STREAM};
    struct buffer tail;

    if (!connect_call_of(core)->is_stream && core->status.code == STATUS_OK) {
        return OK;
    }
    buffer_init(&tail, &core->arena, 512);
    if (connect_call_of(core)->is_stream) {
        buffer_append(&tail, slice_of(head, sizeof(head)));
        connect_write_end(core, &tail);
    } else {
        connect_write_error(core, &tail);
    }
    if (!buffer_ok(&tail)) {
        return ERR_MEMORY;
    }
    if (connect_call_of(core)->is_stream) {
        bytes_put_be32(tail.data + 1, (uint32_t)(tail.size - CALL_ENVELOPE_BYTES));
    }
    *ret_tail = buffer_slice(&tail);
    return OK;
}

const struct http_protocol connect_protocol = {
    .state_bytes = sizeof(struct connect_call),
    .selects = connect_selects,
    .start = connect_start,
    .take_body = connect_take_body,
    .take_end = connect_take_end,
    .head = connect_head,
    .tail = connect_tail,
};
