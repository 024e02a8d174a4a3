/*
 * grpc.h: gRPC over HTTP/2 (grpc/doc/PROTOCOL-HTTP2.md), as a protocol of net: turns bytes into
 * calls of server/call, and replies into bytes. Other requests of its connections are passed to
 * server/http. No libuv: the owner of the sockets calls the
 * table's functions.
 */
#ifndef ERRATA_SERVER_GRPC_GRPC_H
#define ERRATA_SERVER_GRPC_GRPC_H

#include "server/call/server.h"
#include "server/net/protocol.h"

struct grpc_server;
struct h2_stats;
struct http_server;

/* Borrows the server of the calls, and that of other requests, which must outlive it. `http` may be
 * NULL: then only gRPC is served. */
MUST_CHECK enum err grpc_server_new(struct call_server *calls, struct http_server *http,
                                    struct grpc_server **ret_server);
/* Returns the protocol's table, which borrows the server. */
struct net_protocol grpc_server_protocol(struct grpc_server *server);
const struct h2_stats *grpc_server_h2_stats(const struct grpc_server *server);
/* Call when all sessions are closed. Accepts NULL. */
void grpc_server_free(struct grpc_server *server);

#endif
