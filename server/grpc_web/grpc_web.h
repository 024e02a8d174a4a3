/*
 * grpc_web.h: gRPC-Web (grpc/doc/PROTOCOL-WEB.md) over either version of HTTP, in binary and text, in
 * proto and JSON: envelopes as in gRPC, with the status in a last one, since browsers do not expose
 * trailers to a page.
 */
#ifndef ERRATA_SERVER_GRPC_WEB_GRPC_WEB_H
#define ERRATA_SERVER_GRPC_WEB_GRPC_WEB_H

#include "server/http/http_protocol.h"

extern const struct http_protocol grpc_web_protocol;

#endif
