/*
 * grpc.h: gRPC over HTTP/2 (grpc/doc/PROTOCOL-HTTP2.md), as net wants a protocol: it makes calls of
 * server/call from bytes, and bytes from what they answer. No libuv: who has the sockets drives the table.
 */
#ifndef ERRATA_SERVER_GRPC_GRPC_H
#define ERRATA_SERVER_GRPC_GRPC_H

#include "server/call/server.h"
#include "server/net/protocol.h"

struct grpc_server;
struct h2_stats;

/* Borrows the server of the calls, which outlives it. */
MUST_CHECK enum err grpc_server_new(struct call_server *calls, struct grpc_server **ret_server);
/* The protocol's table; borrows the server. */
struct net_protocol grpc_server_protocol(struct grpc_server *server);
const struct h2_stats *grpc_server_h2_stats(const struct grpc_server *server);
/* All sessions are closed. Takes NULL. */
void grpc_server_free(struct grpc_server *server);

#endif
