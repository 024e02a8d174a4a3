/*
 * server.h: the sockets of the server, and the only libuv in the protocol tower. It listens, accepts
 * up to a limit, finds out which protocol a connection speaks, moves bytes between sockets and
 * protocol sessions, gathers what is written to one write a loop turn, ticks, drains, closes. It
 * knows no protocol but by its table (protocol.h).
 */
#ifndef ERRATA_SERVER_NET_SERVER_H
#define ERRATA_SERVER_NET_SERVER_H

#include "server/net/protocol.h"
#include "store/base/clock.h"
#include "store/base/fault.h"

#include <uv.h>

/* Connections at once. Above 7/8 of them the one that has been idle longest is asked to leave for each that
 * comes, if it has been so for NET_IDLE_ASK_US: clients that connect again at once go round no faster than
 * that. At the limit it is closed, however short it has been idle; if none is idle, the new one is accepted
 * and closed, so that its client hears of it. */
#define NET_CONNECTIONS_MAX 10000
#define NET_CONNECTIONS_SCARCE(max) ((max) - (max) / 8)
#define NET_IDLE_ASK_US (60 * INT64_C(1000000))
/* Idle connections that are looked at for one that may be closed at once: the rest have something to write
 * or to be read. */
#define NET_IDLE_LOOKS_MAX 64
/* Of one address (of IPv6, of one /64), unless the owner says otherwise: a quarter, so that others find
 * room. Whoever stands behind a proxy shares its address. */
#define NET_ADDRESS_CONNECTIONS_MAX (NET_CONNECTIONS_MAX / 4)
/* Connections that an address may make at once, and a second; and how many it is as if it had made
 * where one of them ends because of what was done on it. So whoever comes back for another burst of a
 * flood has 25 of them, and then two a second. */
#define NET_ARRIVALS_BURST 10000
#define NET_ARRIVALS_PER_SECOND 1000
#define NET_ARRIVALS_A_CALMED 400
/* Addresses that are remembered for what they did, without a connection. */
#define NET_ADDRESSES_MAX 16384
/* A peer that is gone without a word, between calls: asked by the kernel after so long. */
#define NET_KEEPALIVE_S 120
/* Listening addresses, and protocols told apart. */
#define NET_LISTENERS_MAX 8
#define NET_PROTOCOLS_MAX 4
/* Connections that the kernel keeps for us between two turns. */
#define NET_BACKLOG 512
/* One read; the one buffer for it is shared by all connections. */
#define NET_READ_BYTES (128u * 1024)
/* One write, and so the most that may wait for a peer's socket: while anything does, the session is
 * not asked for more. The one buffer for it is shared by all connections. Fewer bytes wake the reader
 * on the other side more often, which costs more than the bytes do. */
#define NET_WRITE_BYTES (256u * 1024)
/* Writes of one connection in one loop turn: a fast reader of an endless answer shares the loop. */
#define NET_FLUSH_ROUNDS_MAX 2
/* What one connection's bytes may take of a loop turn; the rest of them waits for its next turn, with
 * those of others that took as long. Connections that take less never wait. */
#define NET_FEED_US 1000
/* What the bytes of all connections that took long last, or are new, may take of a turn; a piece of one
 * of those that wait is always taken. */
#define NET_HURRIED_TURN_US 2000
/* Bytes that wait, of all connections. Above it nothing is kept: it is taken in its own turn. */
#define NET_HELD_BYTES_MAX (64u << 20)
/* First bytes, until the protocol is known. */
#define NET_MATCH_DEADLINE_US (10 * INT64_C(1000000))
/* Output that waits for a peer's socket must move within this time. */
#define NET_WRITE_DEADLINE_US (60 * INT64_C(1000000))
/* After our last byte the peer has this long to close: closing first, with bytes of its unread, would
 * take the last answer away from it. */
#define NET_LINGER_US (2 * INT64_C(1000000))
/* Clock of the owner's deadlines, and of the sessions'. */
#define NET_TICK_MS 50
#define NET_SESSION_TICK_US (500 * INT64_C(1000))

struct net_server;

struct net_config {
    const struct clock *clock;
    uint32_t connections_max;
    uint32_t address_connections_max; /* 0: NET_ADDRESS_CONNECTIONS_MAX */
    const struct net_protocol *protocols; /* asked in order; copied */
    size_t protocol_count;
    /* Each NET_TICK_MS, before the sessions' ticks: deadlines of calls. May be NULL. */
    void (*on_tick)(void *user, int64_t now_us);
    void *user;
};

/* Numbers since start, and of now where they say `live`. */
struct net_stats {
    uint64_t connections_accepted;
    uint64_t connections_refused; /* above the limit and none was idle, or above their address's */
    uint64_t connections_evicted; /* idle, and ended to make room */
    uint64_t connections_unknown; /* spoke no protocol of ours */
    uint64_t connections_live;
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t queued_bytes_live; /* waiting for sockets */
    uint64_t held_bytes_live; /* waiting for their connections' turns */
};

MUST_CHECK enum err net_server_new(uv_loop_t *loop, const struct net_config *config,
                                   struct net_server **ret_server);
/* A socket that is bound and does not listen yet; -1: none. */
#define NET_ADDRESS_BYTES 64
struct net_bound {
    int socket;
    char address[NET_ADDRESS_BYTES]; /* with the port that the system chose: `127.0.0.1:7443` */
};

/* Binds a socket to a numeric address such as 127.0.0.1 or ::1; port 0 lets the system choose. Needs no
 * server, so that an address that can't be had is found before anything else is made. ERR_INVALID for
 * a text that is not an address, ERR_UNAVAILABLE or ERR_MEMORY where the system refuses; `fault` has
 * its reason and what to do. */
MUST_CHECK enum err net_bind(const char *address, uint16_t port, struct fault *fault,
                             struct net_bound *ret_bound);
/* Closes what no server has taken; twice is once. */
void net_unbind(struct net_bound *bound);
/* Listens on a bound socket, which is the server's then. May be called for several of them. Errors as
 * those of net_bind: a program that has bound the same address in the same moment may listen first. */
MUST_CHECK enum err net_server_listen(struct net_server *server, struct net_bound *bound,
                                      struct fault *fault);
const struct net_stats *net_server_stats(const struct net_server *server);
/* Stops listening, lets the sessions finish until the deadline, closes what is left, then calls
 * `on_drained` on a later turn. */
void net_server_drain(struct net_server *server, int64_t timeout_ms, void (*on_drained)(void *user),
                      void *user);
/* Closes everything now; `on_closed` comes on a later turn and is the place for net_server_free. */
void net_server_close(struct net_server *server, void (*on_closed)(void *user), void *user);
/* After net_server_close has called back. Takes NULL. */
void net_server_free(struct net_server *server);

#endif
