/*
 * grpc_internal.h: declarations shared by the files of server/grpc. A session is one connection; a
 * stream is one call.
 */
#ifndef ERRATA_SERVER_GRPC_GRPC_INTERNAL_H
#define ERRATA_SERVER_GRPC_GRPC_INTERNAL_H

#include "server/call/envelope.h"
#include "server/grpc/grpc.h"
#include "server/http/http.h"
#include "server/http2/h2.h"

/* Maximum fields that the protocol adds to a block: status, message, details, content type, encodings. */
#define GRPC_OWN_FIELDS_MAX 7
_Static_assert(2 * CALL_ADDED_MAX + GRPC_OWN_FIELDS_MAX <= H2_FIELDS_MAX,
               "the fields of a Trailers-Only response fit");
_Static_assert(H2_STREAM_WINDOW_BYTES * 4 <= CALL_HELD_BYTES_MAX,
               "all bytes that the window allows can be held");

struct grpc_server {
    struct call_server *calls; /* borrowed */
    struct http_server *http; /* borrowed; NULL: requests that are not gRPC are refused */
    struct h2_shared *h2;
};

struct grpc_session {
    struct call_server *server;
    struct http_server *http;
    struct net_link *link;
    struct h2_conn *conn;
    struct call_share share;
};

/* Compression of the request's messages. */
enum grpc_encoding {
    GRPC_IDENTITY,
    GRPC_GZIP,
    GRPC_ENCODING_UNKNOWN
};

/* The protocol that a content type selects. */
enum grpc_content {
    GRPC_CONTENT_OTHER,
    GRPC_CONTENT_GRPC /* application/grpc or application/grpc+proto */
};

/* The protocol's state of a call: values of the request's fields, and the message being received. */
struct grpc_call {
    uint32_t generation; /* generation of the stream */
    enum grpc_content content;
    enum grpc_encoding encoding;
    bool is_post;
    bool is_head;
    bool timeout_is_bad;
    bool no_memory;
    bool responded; /* the response's fields were handed to HTTP/2 */
    struct call_envelopes envelopes;
    int64_t timeout_us; /* INT64_MAX: no timeout */
    struct slice authority;
    struct slice verb; /* empty: POST was used */
    struct slice path; /* empty: the method's path */
};

extern const struct call_protocol grpc_call_protocol;

/* Returns whether the call is gRPC; else it is an exchange of server/http. */
static inline bool grpc_is_call(const struct call_core *core)
{
    return core->protocol == &grpc_call_protocol;
}

static inline struct grpc_call *grpc_call_of(const struct call_core *core)
{
    return (struct grpc_call *)core->state;
}

/* Returns the stream of a call; NULL once it is closed. */
struct h2_stream *grpc_stream_of(const struct call_core *core);

/* Takes one field of the request's headers. */
void grpc_take_field(struct call_core *core, struct slice name, struct slice value);
/* Ends the headers: starts the call, or refuses it, or makes it an exchange of `http` (may be
 * NULL). */
void grpc_take_head_end(struct call_core *core, struct http_server *http);
/* grpc_http.c: requests that are not gRPC. */
/* Makes an exchange of a call whose headers are complete. */
void grpc_begin_http(struct call_core *core, struct http_server *http);
/* Gives bytes of the body to the exchange. */
void grpc_take_http_body(struct call_core *core, struct h2_stream *stream, struct slice bytes);
/* Resumes the request: takes the bytes that were held, and its end. */
void grpc_take_held(struct call_core *core);
/* Sends trailers after the body was read to its end. */
void grpc_send_trailers(struct call_core *core);
/* Refuses a stream for which no call could be opened. */
void grpc_answer_busy(struct h2_stream *stream);

#endif
