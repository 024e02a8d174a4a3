/*
 * protocol.h: the functions that a protocol provides to net: bytes in, bytes out, no sockets.
 * Protocols (gRPC over HTTP/2, HTTP/1.1) implement it and use net, not the reverse;
 * tests drive the same table without a socket.
 */
#ifndef ERRATA_SERVER_NET_PROTOCOL_H
#define ERRATA_SERVER_NET_PROTOCOL_H

#include "store/base/err.h"
#include "store/base/slice.h"

/* The minimum room that `drain` needs: one HTTP/2 frame with its header. */
#define NET_DRAIN_BYTES_MIN (17u * 1024)
/* The minimum room that net offers: it includes the bytes that a layer between it and the protocol (TLS) adds. */
#define NET_ROOM_BYTES_MIN (18u * 1024)
/* Maximum bytes that `match` needs to decide. */
#define NET_MATCH_BYTES_MAX 64

enum net_match {
    NET_MATCH_NO,
    NET_MATCH_MORE, /* more bytes are needed to decide */
    NET_MATCH_YES
};

/* The connection as a protocol's session sees it. Exists until `close` returns. */
struct net_link {
    /* Wakes the connection: it has output, or the session is finished, because of an event outside
     * of feed and drain. */
    void (*wake)(struct net_link *link);
    struct slice peer; /* address and port, for the log */
    /* The last bytes took long: `feed` takes one request per call, so that net checks the time
     * after each. */
    bool hurried;
    /* Set and cleared by the session inside feed, drain and tick: it accepts no more bytes for now.
     * Net reads no more of them; those of the present read are still fed. */
    bool paused;
    /* Set and cleared by the session inside feed, drain and tick: it has taken bytes, of which some were
     * not handled yet. Net feeds it, with no bytes if there are none, until it clears this. */
    bool holds_input;
    /* Set by the session before it closes: it ended the connection for misuse by the peer. */
    bool rate_limited;
};

struct net_protocol {
    void *user; /* argument that was passed to open */
    /* Decides by a connection's first bytes (at least one) whether it speaks this protocol. While
     * one needs more bytes, the protocols after it are not tried. */
    enum net_match (*match)(struct slice first_bytes);
    MUST_CHECK enum err (*open)(void *user, struct net_link *link, int64_t now_us,
                                void **ret_session);
    /* Takes received bytes, at least one unless it holds input, and returns how many it took. Net drains
     * the output of those before it feeds the rest. */
    size_t (*feed)(void *session, struct slice bytes, int64_t now_us);
    /* Writes at most `size` bytes (at least NET_DRAIN_BYTES_MIN) and returns how many. There is no
     * more output for now if it leaves NET_DRAIN_BYTES_MIN free. */
    size_t (*drain)(void *session, uint8_t *to, size_t size);
    void (*tick)(void *session, int64_t now_us);
    /* Refuses new requests, and ends when the open ones have ended. */
    void (*shutdown)(void *session, int64_t now_us);
    /* Returns the time since which no request has been open; INT64_MAX while one is open. NULL: the
     * protocol's connections are never closed to make room. */
    int64_t (*idle_since_us)(const void *session);
    /* Returns whether nothing remains to be read or written, so that the connection may be
     * closed. */
    bool (*finished)(const void *session);
    /* Called when the peer sends nothing more. Returns whether it still gets output; else the
     * connection is closed. NULL: it is always closed. */
    bool (*peer_ended)(void *session);
    /* Frees the session; the connection is gone. */
    void (*close)(void *session);
};

#endif
