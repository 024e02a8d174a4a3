/*
 * grpc_internal.h: gRPC over HTTP/2: what its files share. A session is one connection; a stream is
 * one call.
 */
#ifndef ERRATA_SERVER_GRPC_GRPC_INTERNAL_H
#define ERRATA_SERVER_GRPC_GRPC_INTERNAL_H

#include "server/call/protocol.h"
#include "server/grpc/grpc.h"
#include "server/http2/h2.h"

/* Head of a message on the wire: flag and length. */
#define GRPC_PREFIX_BYTES 5
/* Fields of the protocol's own at either end: status, message, details, content type, encodings. */
#define GRPC_OWN_FIELDS_MAX 7
_Static_assert(2 * CALL_ADDED_MAX + GRPC_OWN_FIELDS_MAX <= H2_FIELDS_MAX,
               "the fields of an answer fit, where both ends of it are one block");
_Static_assert(H2_STREAM_WINDOW_BYTES * 4 <= CALL_HELD_BYTES_MAX,
               "what the window lets a peer send can wait");

struct grpc_server {
    struct call_server *calls; /* borrowed */
    struct h2_shared *h2;
};

struct grpc_session {
    struct call_server *server;
    struct net_link *link;
    struct h2_conn *conn;
    struct call_share share;
};

/* How the request's messages are compressed. */
enum grpc_encoding {
    GRPC_IDENTITY,
    GRPC_GZIP,
    GRPC_ENCODING_UNKNOWN
};

/* What a content type asks for. */
enum grpc_content {
    GRPC_CONTENT_OTHER,
    GRPC_CONTENT_GRPC /* application/grpc, or +proto */
};

/* A call's own state: what the request's fields said, and the head of the message that arrives. */
struct grpc_call {
    uint32_t generation; /* of the stream */
    enum grpc_content content;
    enum grpc_encoding encoding;
    bool is_post;
    bool is_head;
    bool timeout_is_bad;
    bool no_memory;
    bool responded; /* the answer's head was handed to HTTP/2 */
    uint8_t prefix_bytes; /* so far */
    uint8_t prefix[GRPC_PREFIX_BYTES];
    int64_t timeout_us; /* INT64_MAX: none */
};

extern const struct call_protocol grpc_call_protocol;

static inline struct grpc_call *grpc_call_of(const struct call_core *core)
{
    return (struct grpc_call *)core->state;
}

/* The stream of a call, NULL once it is gone. */
struct h2_stream *grpc_stream_of(const struct call_core *core);

/* One field of the request's head. */
void grpc_take_field(struct call_core *core, struct slice name, struct slice value);
/* The head is whole: starts the call, or answers why not. */
void grpc_take_head_end(struct call_core *core);
/* grpc_frames.c */
/* Takes bytes of the request's length-prefixed messages, and gives how many: fewer than all where
 * output is above the mark. */
size_t grpc_take_frames(struct call_core *core, struct slice bytes);
/* The head of a reply message. */
void grpc_write_prefix(uint8_t *head, uint32_t bytes, bool compressed);
/* The request goes on: what was held of it, and its end. */
void grpc_take_held(struct call_core *core);
/* The body was read to its end. */
void grpc_send_trailers(struct call_core *core);
/* Answers a stream for which there is no call. */
void grpc_answer_busy(struct h2_stream *stream);

#endif
