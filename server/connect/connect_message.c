/*
 * connect_message.c: the functions of the protocol for a call, by the form of its messages: whole
 * bodies or envelopes, in proto or JSON.
 */
#include "server/connect/connect_internal.h"

static const struct call_protocol connect_unary_proto = {HTTP_CALL_FUNCTIONS};

static const struct call_protocol connect_unary_json = {
    HTTP_CALL_FUNCTIONS,
    .convert = http_convert_json,
    .write_message = http_write_json,
};

static const struct call_protocol connect_stream_proto = {
    HTTP_CALL_FUNCTIONS,
    .reply_head_bytes = CALL_ENVELOPE_BYTES,
    .write_head = call_write_envelope,
};

static const struct call_protocol connect_stream_json = {
    HTTP_CALL_FUNCTIONS,
    .reply_head_bytes = CALL_ENVELOPE_BYTES,
    .write_head = call_write_envelope,
    .convert = http_convert_json,
    .write_message = http_write_json,
};

const struct call_protocol *connect_call_protocol(bool is_stream, enum connect_codec codec)
{
    if (is_stream) {
        return codec == CONNECT_JSON ? &connect_stream_json : &connect_stream_proto;
    }
    return codec == CONNECT_JSON ? &connect_unary_json : &connect_unary_proto;
}

enum connect_encoding connect_encoding_of(struct slice name)
{
    if (slice_equal(name, SLICE("gzip"))) {
        return CONNECT_GZIP;
    }
    return name.size == 0 || slice_equal(name, SLICE("identity")) ? CONNECT_IDENTITY
                                                                  : CONNECT_UNKNOWN_ENCODING;
}
