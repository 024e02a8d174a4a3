/*
 * connect.h: unary calls of the Connect protocol (connectrpc.com/docs/protocol) in proto and JSON,
 * by POST and GET: a request's line, fields and body become a call of server/call, and its end one
 * response. The version of HTTP below it passes what it received, and sends the response whole. No
 * streams: those are served by gRPC.
 */
#ifndef ERRATA_SERVER_CONNECT_CONNECT_H
#define ERRATA_SERVER_CONNECT_CONNECT_H

#include "server/call/protocol.h"

/* Fields of a response besides the services' own: type, encoding, accepted types and the like. */
#define CONNECT_OWN_FIELDS_MAX 6
#define CONNECT_FIELDS_MAX (2 * CALL_ADDED_MAX + CONNECT_OWN_FIELDS_MAX)
_Static_assert(PLAIN_FIELDS_MAX < CONNECT_FIELDS_MAX, "a plain response has room, with its type");
/* A JSON message in either direction is converted on the loop: at about 200 MB/s this takes a
 * millisecond or two. Larger messages need application/proto. */
#define CONNECT_JSON_BYTES_MAX ((size_t)256 * 1024)
/* Digits of connect-timeout-ms. */
#define CONNECT_TIMEOUT_DIGITS_MAX 10

/* A whole response. Borrowed from the call, until it is released. */
struct connect_response {
    unsigned status; /* of HTTP */
    uint32_t field_count;
    struct call_field fields[CONNECT_FIELDS_MAX];
    struct slice body;
};

/* Opens a call for a request that begins; NULL above the server's limit or without memory. `ready`
 * is called with `stream` when the response may be taken, possibly inside a function below; never
 * after call_let_go. The caller sets the call's share and peer, and releases it. */
struct call_core *connect_open(struct call_server *server, void (*ready)(void *stream),
                               void *stream);
/* Takes the request line. The slices are copied. */
void connect_take_line(struct call_core *core, struct slice method, struct slice target);
/* Takes a header field; its name is in lower case. */
void connect_take_field(struct call_core *core, struct slice name, struct slice value);
/* Ends the fields: starts the call, or refuses it. `length` is the body's announced size; 0 if it
 * has none or is chunked. */
void connect_take_head_end(struct call_core *core, bool has_body, bool has_length, uint64_t length);
/* Takes bytes of the body; those after the call's end are ignored. */
void connect_take_body(struct call_core *core, struct slice bytes);
/* Takes the end of the request. */
void connect_take_end(struct call_core *core);
/* Builds the response, after `ready`. ERR_MEMORY: there is none, and the connection must end. */
MUST_CHECK enum err connect_respond(struct call_core *core, struct connect_response *ret_response);

#endif
