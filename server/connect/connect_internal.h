/*
 * connect_internal.h: functions shared by the files of server/connect.
 */
#ifndef ERRATA_SERVER_CONNECT_CONNECT_INTERNAL_H
#define ERRATA_SERVER_CONNECT_CONNECT_INTERNAL_H

#include "server/call/envelope.h"
#include "server/connect/connect.h"
#include "server/connect/connect_error.h"

enum connect_codec {
    CONNECT_NO_CODEC,
    CONNECT_PROTO,
    CONNECT_JSON
};

enum connect_encoding {
    CONNECT_IDENTITY,
    CONNECT_GZIP,
    CONNECT_UNKNOWN_ENCODING
};

/* The protocol's state of a call. */
struct connect_call {
    enum connect_codec codec;
    enum connect_encoding encoding; /* encoding of the request's body or messages */
    bool is_stream; /* messages are in envelopes */
    bool is_get;
    struct slice message; /* decoded message of a GET */
    struct call_envelopes envelopes; /* envelopes of a stream's request */
};

static inline struct connect_call *connect_call_of(const struct call_core *core)
{
    return (struct connect_call *)http_state(core);
}

/* connect_message.c: returns the functions of a call in this codec. */
const struct call_protocol *connect_call_protocol(bool is_stream, enum connect_codec codec);
/* Returns the encoding that a field or a parameter names. */
enum connect_encoding connect_encoding_of(struct slice name);
/* connect_request.c */
bool connect_selects(const struct call_core *core);
void connect_start(struct call_core *core);
size_t connect_take_body(struct call_core *core, struct slice bytes);
void connect_take_end(struct call_core *core);
/* connect_get.c: reads the query of a GET into codec, encoding and message; returns why it is
 * invalid, or NULL. */
const char *connect_read_query(struct call_core *core);
/* Appends bytes as a JSON string in base64, without padding. */
void connect_write_base64(struct buffer *json, struct slice bytes);

#endif
