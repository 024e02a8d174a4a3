/*
 * connect_error.c: writes the status of a call as JSON: code, message, and details, each with its
 * type and bytes.
 */
#include "server/connect/connect_internal.h"
#include "store/base/base64.h"
#include "store/base/json.h"
#include "store/base/wire.h"

/* Fields of google.rpc.Status and google.protobuf.Any. */
#define STATUS_DETAILS_FIELD 3
#define ANY_TYPE_FIELD 1
#define ANY_VALUE_FIELD 2

struct connect_code {
    const char *name;
    unsigned http_status;
};

/* connectrpc.com/docs/protocol, "Error codes". */
static const struct connect_code connect_codes[] = {
    [STATUS_OK] = {"ok", 200},
    [STATUS_CANCELLED] = {"canceled", 499},
    [STATUS_UNKNOWN] = {"unknown", 500},
    [STATUS_INVALID_ARGUMENT] = {"invalid_argument", 400},
    [STATUS_DEADLINE_EXCEEDED] = {"deadline_exceeded", 504},
    [STATUS_NOT_FOUND] = {"not_found", 404},
    [STATUS_ALREADY_EXISTS] = {"already_exists", 409},
    [STATUS_PERMISSION_DENIED] = {"permission_denied", 403},
    [STATUS_RESOURCE_EXHAUSTED] = {"resource_exhausted", 429},
    [STATUS_FAILED_PRECONDITION] = {"failed_precondition", 400},
    [STATUS_ABORTED] = {"aborted", 409},
    [STATUS_OUT_OF_RANGE] = {"out_of_range", 400},
    [STATUS_UNIMPLEMENTED] = {"unimplemented", 501},
    [STATUS_INTERNAL] = {"internal", 500},
    [STATUS_UNAVAILABLE] = {"unavailable", 503},
    [STATUS_DATA_LOSS] = {"data_loss", 500},
    [STATUS_UNAUTHENTICATED] = {"unauthenticated", 401},
};

_Static_assert(sizeof(connect_codes) / sizeof(connect_codes[0]) == STATUS_UNAUTHENTICATED + 1,
               "each code has a name");

unsigned connect_http_status(enum status_code code)
{
    return connect_codes[code].http_status;
}

void connect_write_base64(struct buffer *json, struct slice bytes)
{
    buffer_append_byte(json, '"');
    if (buffer_reserve(json, BASE64_DIGITS(bytes.size) + 1)) {
        json->size += base64_write(bytes, BASE64_STANDARD, json->data + json->size);
    }
    buffer_append_byte(json, '"');
}

/* Returns the name after the last slash of a type URL. */
static struct slice connect_type_name(struct slice url)
{
    for (size_t i = url.size; i > 0; i--) {
        if (url.data[i - 1] == '/') {
            return slice_after(url, i);
        }
    }
    return url;
}

static void connect_write_detail(struct buffer *json, struct slice any)
{
    struct wire_reader reader = wire_reader_of(any);
    struct wire_field field;
    struct slice type = {NULL, 0};
    struct slice value = {NULL, 0};

    while (wire_next(&reader, &field) == OK) {
        if (field.type == WIRE_BYTES && field.number == ANY_TYPE_FIELD) {
            type = connect_type_name(field.bytes);
        } else if (field.type == WIRE_BYTES && field.number == ANY_VALUE_FIELD) {
            value = field.bytes;
        }
    }
    buffer_append(json, SLICE("{\"type\":"));
    json_write_string(json, type, false);
    buffer_append(json, SLICE(",\"value\":"));
    connect_write_base64(json, value);
    buffer_append_byte(json, '}');
}

static void connect_write_details(struct buffer *json, struct slice status)
{
    struct wire_reader reader = wire_reader_of(status);
    struct wire_field field;
    bool begun = false;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == STATUS_DETAILS_FIELD && field.type == WIRE_BYTES) {
            buffer_append(json, begun ? SLICE(",") : SLICE(",\"details\":["));
            connect_write_detail(json, field.bytes);
            begun = true;
        }
    }
    buffer_append(json, begun ? SLICE("]") : SLICE(""));
}

void connect_write_error(const struct call_core *core, struct buffer *json)
{
    buffer_append(json, SLICE("{\"code\":"));
    json_write_string(json, slice_text(connect_codes[core->status.code].name), false);
    if (core->status.message.size > 0) {
        buffer_append(json, SLICE(",\"message\":"));
        json_write_string(json, core->status.message, false);
    }
    connect_write_details(json, core->status.details);
    buffer_append_byte(json, '}');
}
