/*
 * tls.h: TLS below the protocols of a server, as a protocol of net: it answers handshakes, decrypts
 * received bytes for the session of the protocol that ALPN selects, and encrypts that session's
 * output. No libuv: the owner of the sockets calls the table's functions.
 */
#ifndef ERRATA_SERVER_TLS_TLS_H
#define ERRATA_SERVER_TLS_TLS_H

#include "server/net/protocol.h"
#include "server/tls/stream/tls_context.h"

#define TLS_PROTOCOLS_MAX 4
/* Time for a handshake, from the connection's first byte. */
#define TLS_HANDSHAKE_DEADLINE_US (10 * INT64_C(1000000))
/* Records without plain bytes (key updates, empty ones) that a connection may send at once, and per second.
 * Each costs a server about as much as a small call; above the limit, the connection is ended. */
#define TLS_EMPTY_RECORDS_BURST 100
#define TLS_EMPTY_RECORDS_PER_SECOND 10
#define TLS_FAILURE_BYTES 256

struct tls_server;

/* A protocol that is served over TLS. */
struct tls_protocol {
    const char *name; /* as in ALPN: `h2` or `http/1.1` */
    struct net_protocol protocol;
};

/* Counters since the start. */
struct tls_stats {
    uint64_t handshakes; /* handshakes that were completed */
    uint64_t handshakes_resumed; /* those of them that continued a session */
    uint64_t handshakes_failed; /* handshakes that were refused, or broken off by an error */
    uint64_t handshakes_expired; /* handshakes that took too long */
    int64_t certificate_expires_at_s; /* expiry of the current certificate, since 1970 */
    char failure[TLS_FAILURE_BYTES]; /* peer and reason of the last failed handshake; empty: none */
};

/* Takes ownership of the context if it succeeds. The protocols are copied; a connection without ALPN gets
 * the first one that matches its first bytes, so the one that matches any is the last. ERR_INVALID for
 * more than TLS_PROTOCOLS_MAX, ERR_MEMORY. */
MUST_CHECK enum err tls_server_new(const struct tls_protocol *protocols, size_t protocol_count,
                                   struct tls_context *take_context,
                                   struct tls_server **ret_server);
/* Returns the protocol's table; it borrows the server. */
struct net_protocol tls_server_protocol(struct tls_server *server);
/* Uses another context for handshakes that start from now on. Open connections keep the old one. */
void tls_server_replace_context(struct tls_server *server, struct tls_context *take_context);
const struct tls_stats *tls_server_stats(const struct tls_server *server);
/* Call when all sessions are closed. Accepts NULL. */
void tls_server_free(struct tls_server *server);

#endif
