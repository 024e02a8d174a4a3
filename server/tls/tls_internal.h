/*
 * tls_internal.h: fields of the server and its sessions; private to server/tls.
 */
#ifndef ERRATA_SERVER_TLS_TLS_INTERNAL_H
#define ERRATA_SERVER_TLS_TLS_INTERNAL_H

#include "server/tls/stream/tls_stream.h"
#include "server/tls/tls.h"

/* Plain bytes of one step: those of a record that was received, or output of a session. */
#define TLS_PLAIN_BYTES ((size_t)64 * 1024)

_Static_assert(TLS_PLAIN_BYTES >= TLS_RECORD_BYTES_MAX, "a record's plain bytes fit");
_Static_assert(TLS_PLAIN_BYTES >= NET_DRAIN_BYTES_MIN, "a session may be drained into it");

enum tls_state {
    TLS_SHAKING, /* the handshake is not complete */
    TLS_MATCHING, /* without ALPN: the first bytes do not decide the protocol yet */
    TLS_OPEN, /* waiting output is still drained; input is discarded */
    TLS_ENDED /* what waits is still drained; input is discarded */
};

struct tls_session {
    struct net_link inner; /* the connection as the protocol's session sees it; must be first */
    struct net_link *link; /* the connection as net sees it */
    struct tls_server *server;
    struct tls_stream *stream; /* owned */
    enum tls_state state;
    const struct net_protocol *protocol; /* NULL until TLS_OPEN */
    void *session; /* owned: the session of the protocol */
    int64_t opened_us;
    bool peer_ended; /* the peer sends nothing more */
    bool goes_on; /* the session still gets output after that */
    int64_t empty_left; /* records without plain bytes that may follow */
    int64_t empty_refilled_us;
    size_t first_count;
    uint8_t first_bytes[NET_MATCH_BYTES_MAX]; /* plain bytes while TLS_MATCHING */
};

struct tls_server {
    struct tls_context *context; /* co-owned, with the streams */
    struct tls_protocol protocols[TLS_PROTOCOLS_MAX];
    size_t protocol_count;
    struct tls_stats stats;
    uint8_t plain[TLS_PLAIN_BYTES]; /* memory of one step of one session; shared by all */
};

/* tls_session.c */
struct net_protocol tls_session_table(struct tls_server *server);

#endif
