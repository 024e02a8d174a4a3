/*
 * connect_get.c: reads the parameters of a GET: encoding, message, base64, compression, connect.
 * Others are ignored, and of repeated ones the last counts.
 */
#include "server/connect/connect_internal.h"
#include "store/base/base64.h"

struct connect_parameters {
    struct slice encoding;
    struct slice message;
    struct slice base64;
    struct slice compression;
    struct slice connect;
    bool has_message;
};

static int connect_hex_value(uint8_t byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Decodes %XX and `+`; false if a `%` is not followed by two hexadecimal digits, or if there is no memory. */
static bool connect_unescape(struct arena *arena, struct slice text, struct slice *ret_value)
{
    uint8_t *value = arena_alloc(arena, text.size + 1);
    size_t size = 0;

    if (value == NULL) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        if (byte == '%') {
            int high = i + 2 < text.size ? connect_hex_value(text.data[i + 1]) : -1;
            int low = i + 2 < text.size ? connect_hex_value(text.data[i + 2]) : -1;

            if (high < 0 || low < 0) {
                return false;
            }
            byte = (uint8_t)(high << 4 | low);
            i += 2;
        } else if (byte == '+') {
            byte = ' ';
        }
        value[size++] = byte;
    }
    *ret_value = slice_of(value, size);
    return true;
}

/* Stores a parameter in its member; unknown ones are ignored. */
static bool connect_take_parameter(struct arena *arena, struct slice name, struct slice value,
                                   struct connect_parameters *parameters)
{
    if (slice_equal(name, SLICE("message"))) {
        parameters->has_message = true;
        return connect_unescape(arena, value, &parameters->message);
    }
    if (slice_equal(name, SLICE("encoding"))) {
        return connect_unescape(arena, value, &parameters->encoding);
    }
    if (slice_equal(name, SLICE("base64"))) {
        return connect_unescape(arena, value, &parameters->base64);
    }
    if (slice_equal(name, SLICE("compression"))) {
        return connect_unescape(arena, value, &parameters->compression);
    }
    if (slice_equal(name, SLICE("connect"))) {
        return connect_unescape(arena, value, &parameters->connect);
    }
    return true;
}

/* Removes the text up to `mark` from the front of `rest`. */
static struct slice connect_take_until(struct slice *rest, char mark)
{
    const uint8_t *at = rest->size > 0 ? memchr(rest->data, mark, rest->size) : NULL;
    struct slice part = *rest;

    if (at != NULL) {
        part.size = (size_t)(at - rest->data);
    }
    *rest = slice_after(*rest, at != NULL ? part.size + 1 : part.size);
    return part;
}

static bool connect_read_parameters(struct call_core *core, struct connect_parameters *parameters)
{
    struct slice rest = http_exchange_of(core)->query;

    while (rest.size > 0) {
        struct slice value = connect_take_until(&rest, '&');
        struct slice name = connect_take_until(&value, '=');

        if (!connect_take_parameter(&core->arena, name, value, parameters)) {
            return false;
        }
    }
    return true;
}

/* Decodes a message in base64: the URL's alphabet or the other, padded or not. */
static bool connect_decode_message(struct arena *arena, struct slice text, struct slice *ret_bytes)
{
    uint8_t *bytes = arena_alloc(arena, text.size + 1);
    size_t size = 0;

    if (bytes == NULL ||
        !base64_read(text, BASE64_URL | BASE64_STANDARD | BASE64_PADDED, bytes, &size)) {
        return false;
    }
    *ret_bytes = slice_of(bytes, size);
    return true;
}

const char *connect_read_query(struct call_core *core)
{
    struct connect_call *connect = connect_call_of(core);
    struct connect_parameters parameters = {.has_message = false};

    if (!connect_read_parameters(core, &parameters)) {
        return "query: invalid percent-encoding; expected % and two hexadecimal digits";
    }
    if (!parameters.has_message) {
        return "message: missing in the query; expected the request, percent-encoded or in base64";
    }
    if (parameters.connect.size > 0 && !slice_equal(parameters.connect, SLICE("v1"))) {
        return "connect: unknown version; expected v1";
    }
    if (parameters.base64.size > 0 && !slice_equal(parameters.base64, SLICE("1"))) {
        return "base64: invalid; expected 1, or no such parameter";
    }
    if (parameters.base64.size > 0 &&
        !connect_decode_message(&core->arena, parameters.message, &parameters.message)) {
        return "message: invalid base64; expected the URL-safe alphabet";
    }
    connect->message = parameters.message;
    connect->encoding = connect_encoding_of(parameters.compression);
    connect->codec = CONNECT_NO_CODEC;
    if (slice_equal(parameters.encoding, SLICE("json"))) {
        connect->codec = CONNECT_JSON;
    } else if (slice_equal(parameters.encoding, SLICE("proto"))) {
        connect->codec = CONNECT_PROTO;
    }
    return NULL;
}
