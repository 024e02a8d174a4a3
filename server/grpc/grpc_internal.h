/*
 * grpc_internal.h: gRPC over HTTP/2: what its three files share. A session is one connection; a
 * stream is one call.
 */
#ifndef ERRATA_SERVER_GRPC_GRPC_INTERNAL_H
#define ERRATA_SERVER_GRPC_GRPC_INTERNAL_H

#include "server/grpc/call_internal.h"

struct grpc_session {
    struct call_server *server;
    struct net_link *link;
    struct h2_conn *conn;
    struct call_share share;
};

extern const struct call_protocol grpc_protocol;

/* The stream of a call, NULL once it is gone. */
struct h2_stream *grpc_stream_of(const struct call_core *core);

/* One field of the request's head. */
void grpc_take_field(struct call_core *core, struct slice name, struct slice value);
/* The head is whole: starts the call, or answers why not. */
void grpc_take_head_end(struct call_core *core);
/* The request goes on: what was held of it, and its end. */
void grpc_take_held(struct call_core *core);
/* The body was read to its end. */
void grpc_send_trailers(struct call_core *core);
/* Answers a stream for which there is no call. */
void grpc_answer_busy(struct h2_stream *stream);

#endif
