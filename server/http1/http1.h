/*
 * http1.h: HTTP/1.1 as a protocol of net: each request of a connection, one at a time, becomes an
 * exchange of server/http, whose response is written as bytes. Requests that are sent ahead wait.
 * No libuv: the owner of the sockets calls the table's functions.
 */
#ifndef ERRATA_SERVER_HTTP1_HTTP1_H
#define ERRATA_SERVER_HTTP1_HTTP1_H

#include "server/http/http.h"
#include "server/net/protocol.h"
#include "store/base/clock.h"

/* Time from a request's first byte to the end of its header fields. */
#define HTTP1_HEAD_DEADLINE_US (10 * INT64_C(1000000))
/* Time without a request after which a connection is closed; clients connect again. */
#define HTTP1_IDLE_DEADLINE_US (600 * INT64_C(1000000))
/* Maximum requests of a connection: the response of the last one closes it, so that one peer does
 * not hold a connection indefinitely. */
#define HTTP1_REQUESTS_MAX 10000
/* Maximum bytes of requests that are sent ahead: as many as one read of net; then nothing is read
 * until the response is sent. */
#define HTTP1_AHEAD_BYTES_MAX ((size_t)256 * 1024)

struct http1_server;

/* Counters since the start. */
struct http1_stats {
    uint64_t connections; /* connections that were opened */
    uint64_t requests; /* request lines that were read */
    uint64_t refused; /* requests that were refused for their form or for arriving too slowly */
};

/* Borrows the server of the exchanges and the clock, which must outlive it. */
MUST_CHECK enum err http1_server_new(struct http_server *http, const struct clock *clock,
                                     struct http1_server **ret_server);
/* Returns the protocol's table; it borrows the server. It accepts any first bytes, so it must be the
 * last one that net tries. */
struct net_protocol http1_server_protocol(struct http1_server *server);
const struct http1_stats *http1_server_stats(const struct http1_server *server);
/* Call when all sessions are closed. Accepts NULL. */
void http1_server_free(struct http1_server *server);

#endif
