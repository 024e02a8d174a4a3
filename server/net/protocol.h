/*
 * protocol.h: what net asks of a protocol, as a table of functions: bytes in, bytes out, no sockets.
 * Protocols stand above net and implement it (gRPC over HTTP/2 today, HTTP/1.1 beside it); tests
 * drive the same table without a socket.
 */
#ifndef ERRATA_SERVER_NET_PROTOCOL_H
#define ERRATA_SERVER_NET_PROTOCOL_H

#include "store/base/err.h"
#include "store/base/slice.h"

/* The room that net gives `drain` at least: a whole frame of HTTP/2 and its head. */
#define NET_DRAIN_BYTES_MIN (17u * 1024)
/* The most bytes that `match` ever needs to decide. */
#define NET_MATCH_BYTES_MAX 64

enum net_match {
    NET_MATCH_NO,
    NET_MATCH_MORE, /* the bytes are a beginning of it: ask again with more */
    NET_MATCH_YES
};

/* The connection as a protocol's session sees it. Lives until `close` returns. */
struct net_link {
    /* Output waits, or the session is finished, by something that happened outside feed and drain. */
    void (*wake)(struct net_link *link);
    struct slice peer; /* address and port, for the log */
    /* What was fed last took long: feed is to take a single request, so that there is a look at the time
     * behind each. */
    bool hurried;
    /* The session's, when it closes: it was ended for what the peer did too much of. */
    bool calmed;
};

struct net_protocol {
    void *user; /* given to open */
    /* Do a connection's first bytes (at least one) speak this protocol? */
    enum net_match (*match)(struct slice first_bytes);
    MUST_CHECK enum err (*open)(void *user, struct net_link *link, int64_t now_us,
                                void **ret_session);
    /* Takes bytes, at least one of them, and gives how many: what those made is drained before the
     * rest is fed. */
    size_t (*feed)(void *session, struct slice bytes, int64_t now_us);
    /* Writes at most `size` bytes (NET_DRAIN_BYTES_MIN at least), gives how many; there is no more for
     * now where they leave room for NET_DRAIN_BYTES_MIN. */
    size_t (*drain)(void *session, uint8_t *to, size_t size);
    void (*tick)(void *session, int64_t now_us);
    /* Takes no more requests, and ends when the open ones have ended. */
    void (*shutdown)(void *session, int64_t now_us);
    /* Since when no request has been open; INT64_MAX while one is. NULL: the protocol's connections are
     * never ended to make room. */
    int64_t (*idle_since_us)(const void *session);
    /* Nothing is to be read or written any more: the connection may be closed. */
    bool (*finished)(const void *session);
    /* The connection is gone: frees the session. */
    void (*close)(void *session);
};

#endif
