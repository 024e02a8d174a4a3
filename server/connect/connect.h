/*
 * connect.h: the Connect protocol (connectrpc.com/docs/protocol) in proto and JSON: unary calls by POST
 * and GET, and streams, over either version of HTTP. It serves each request whose path is that of a
 * method, unless the content type selects another protocol.
 */
#ifndef ERRATA_SERVER_CONNECT_CONNECT_H
#define ERRATA_SERVER_CONNECT_CONNECT_H

#include "server/http/http_protocol.h"

/* Maximum digits of connect-timeout-ms. */
#define CONNECT_TIMEOUT_DIGITS_MAX 10

extern const struct http_protocol connect_protocol;

#endif
