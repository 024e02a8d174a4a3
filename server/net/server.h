/*
 * server.h: the server's sockets, and the only use of libuv among the protocol layers. It listens,
 * accepts up to a limit, detects a connection's protocol, moves bytes between sockets and sessions,
 * gathers output into one write per loop turn, ticks, drains and closes. It knows a protocol only
 * by its table (protocol.h).
 */
#ifndef ERRATA_SERVER_NET_SERVER_H
#define ERRATA_SERVER_NET_SERVER_H

#include "server/net/protocol.h"
#include "store/base/clock.h"
#include "store/base/fault.h"

#include <uv.h>

/* Connections at once. Above 7/8 of the limit, each new connection causes a graceful close of the
 * longest idle one, if that has been idle for NET_IDLE_ASK_US: so clients that reconnect at once cannot
 * displace each other faster than that. At the limit the longest idle one is closed, however short that
 * is; if none is idle, the new one is accepted and closed at once, so that its client notices. */
#define NET_CONNECTIONS_MAX 10000
#define NET_CONNECTIONS_SCARCE(max) ((max) - (max) / 8)
#define NET_IDLE_ASK_US (60 * INT64_C(1000000))
/* Idle connections examined for one that may be closed at once: others have bytes to be written or
 * read. */
#define NET_IDLE_LOOKS_MAX 64
/* Maximum connections per address (of IPv6, per /64), unless the owner sets another limit: a
 * quarter, so that others find room. Clients of one proxy share its address. */
#define NET_ADDRESS_CONNECTIONS_MAX (NET_CONNECTIONS_MAX / 4)
/* Connections that an address may open at once, and per second; a connection that is ended for
 * misuse counts as NET_ARRIVALS_A_CALMED. So an address that repeats a flood opens 25 connections,
 * and then two a second. */
#define NET_ARRIVALS_BURST 10000
#define NET_ARRIVALS_PER_SECOND 1000
#define NET_ARRIVALS_A_CALMED 400
/* Maximum addresses without connections that are remembered. */
#define NET_ADDRESSES_MAX 16384
/* A peer that vanished between calls is probed by the kernel after this time. */
#define NET_KEEPALIVE_S 120
/* Listening addresses, and protocols that can be detected. */
#define NET_LISTENERS_MAX 8
#define NET_PROTOCOLS_MAX 4
/* Connections that the kernel queues between two turns. */
#define NET_BACKLOG 512
/* Bytes of one read; all connections share one buffer for it. */
#define NET_READ_BYTES (128u * 1024)
/* Bytes of one write, and so the most that may wait for a peer's socket: the session is not drained
 * meanwhile. All connections share one buffer for it. A smaller one wakes the reader on the other
 * side more often, which costs more than the bytes do. */
#define NET_WRITE_BYTES (256u * 1024)
/* Maximum writes of one connection in one loop turn, so that a fast reader of an endless reply
 * shares the loop. */
#define NET_FLUSH_ROUNDS_MAX 2
/* Time of a turn for one connection's bytes; the rest of them waits for its next turn, together
 * with other slow connections. Faster connections never wait. */
#define NET_FEED_US 1000
/* Time of a turn for all connections that are slow or new; one piece of a held one is always
 * taken. */
#define NET_HURRIED_TURN_US 2000
/* Limit of the held bytes of all connections. Above it no bytes are held: they are fed in the turn
 * in which they arrive. */
#define NET_HELD_BYTES_MAX (64u << 20)
/* Time for the first bytes, until the protocol is known. */
#define NET_MATCH_DEADLINE_US (10 * INT64_C(1000000))
/* Time within which output that waits for a peer's socket must move. */
#define NET_WRITE_DEADLINE_US (60 * INT64_C(1000000))
/* Time for the peer to close after our last byte. If we closed first with unread bytes of the peer,
 * the reset would discard our last reply. */
#define NET_LINGER_US (2 * INT64_C(1000000))
/* Interval at which the deadlines of the owner and of the sessions are checked. */
#define NET_TICK_MS 50
#define NET_SESSION_TICK_US (500 * INT64_C(1000))

struct net_server;

struct net_config {
    const struct clock *clock;
    uint32_t connections_max;
    uint32_t address_connections_max; /* 0: NET_ADDRESS_CONNECTIONS_MAX */
    const struct net_protocol *protocols; /* protocols, tried in order; copied */
    size_t protocol_count;
    /* The bytes that are sent to a connection, before it is closed, if no protocol matches its first
     * bytes. Empty: the answer of a server that speaks HTTP/2 only. The bytes outlive the server. */
    struct slice unknown_answer;
    /* Called each NET_TICK_MS, before the sessions' ticks: deadlines of calls. May be NULL. */
    void (*on_tick)(void *user, int64_t now_us);
    void *user;
};

/* Counters since the start; `_live` ones are current values. */
struct net_stats {
    uint64_t connections_accepted;
    uint64_t
        connections_refused; /* connections refused because of the total limit while none was idle, or because of the limit of their address */
    uint64_t connections_evicted; /* idle connections closed to make room */
    uint64_t connections_unknown; /* connections of an unknown protocol */
    uint64_t connections_live;
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t queued_bytes_live; /* bytes that wait for sockets */
    uint64_t held_bytes_live; /* bytes that wait for their connections' turns */
};

MUST_CHECK enum err net_server_new(uv_loop_t *loop, const struct net_config *config,
                                   struct net_server **ret_server);
/* A bound socket that does not listen yet; -1: none. */
#define NET_ADDRESS_BYTES 64
struct net_bound {
    int socket;
    char address[NET_ADDRESS_BYTES]; /* address with the chosen port: `127.0.0.1:7443` */
};

/* Binds a socket to a numeric address such as 127.0.0.1 or ::1; port 0 lets the system choose.
 * Needs no server, so that an unusable address is found before the store is created. ERR_INVALID
 * for a text that is not an address, ERR_UNAVAILABLE or ERR_MEMORY if the system refuses; `fault`
 * has the reason and advice. */
MUST_CHECK enum err net_bind(const char *address, uint16_t port, struct fault *fault,
                             struct net_bound *ret_bound);
/* Closes a socket that no server has taken. May be called twice. */
void net_unbind(struct net_bound *bound);
/* Listens on a bound socket, which the server then owns. May be called for several. Fails like
 * net_bind: a program that bound the same address at the same moment may listen first. */
MUST_CHECK enum err net_server_listen(struct net_server *server, struct net_bound *bound,
                                      struct fault *fault);
const struct net_stats *net_server_stats(const struct net_server *server);
/* Stops listening, lets sessions finish until the deadline, closes the rest, then calls
 * `on_drained` on a later turn. */
void net_server_drain(struct net_server *server, int64_t timeout_ms, void (*on_drained)(void *user),
                      void *user);
/* Closes everything now; calls `on_closed` on a later turn, where net_server_free may be called. */
void net_server_close(struct net_server *server, void (*on_closed)(void *user), void *user);
/* Call after `on_closed`. Accepts NULL. */
void net_server_free(struct net_server *server);

#endif
