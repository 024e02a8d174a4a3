/*
 * net_internal.h: fields of the server and its connections; private to server/net.
 */
#ifndef ERRATA_SERVER_NET_NET_INTERNAL_H
#define ERRATA_SERVER_NET_NET_INTERNAL_H

#include "server/net/server.h"

/* Hash chains of addresses: about 16 entries each at NET_ADDRESSES_MAX. */
#define NET_ADDRESS_CHAINS 1024

enum net_state {
    NET_MATCHING, /* the first bytes do not decide the protocol yet */
    NET_OPEN, /* the connection has a session */
    NET_ENDING, /* the session is closed: queued output is still written, input is discarded */
    NET_CLOSING /* uv_close has been called */
};

/* State of a peer's address. */
struct net_address {
    struct net_address *next; /* next in its hash chain */
    uint64_t high; /* IPv4 is mapped into IPv6; only the first 64 bits of IPv6 are used */
    uint64_t low;
    uint32_t live; /* number of open connections */
    int32_t
        arrivals_left; /* remaining connections; negative: none is accepted until it has been refilled */
    int64_t refilled_us;
};

/* Connections without an open request; the longest idle first. */
struct net_idle_list {
    struct net_connection *first;
    struct net_connection *last;
};

struct net_connection {
    uv_tcp_t tcp; /* must be the first member: libuv's handle */
    struct net_link link; /* the session's side of the connection */
    struct net_server *server;
    struct net_connection *next; /* next in the server's list */
    struct net_connection *previous;
    struct net_connection *dirty_next; /* next in the dirty list while `dirty` */
    struct net_connection *dirty_previous;
    bool dirty;
    bool waits; /* in the held list, waiting for a turn; nothing is read meanwhile */
    bool read_stopped; /* nothing is read, since the session is paused */
    bool peer_ended; /* the peer has shut its side down */
    struct net_connection *held_next;
    struct net_connection *held_previous;
    uint8_t *held; /* owned: received bytes that wait; NULL if none */
    size_t held_bytes; /* number of received bytes */
    size_t held_taken; /* number of held bytes that have been fed to the session */
    int64_t feed_us; /* processing time of the last bytes */
    int64_t
        step_us; /* smoothed processing time of one piece, so that a stall of the disk does not mark a connection as slow */
    uint64_t read_turn; /* the loop's turn in which it was last read: once in each */
    enum net_state state;
    struct net_idle_list *idle_list; /* list of the server that contains it; NULL: it is not idle */
    struct net_connection *idle_next;
    struct net_connection *idle_previous;
    int64_t idle_since_us; /* start of idleness; INT64_MAX: not idle */
    bool leaving; /* it was asked to close, or is closing by itself */
    struct net_address *address; /* NULL: not counted */
    const struct net_protocol *protocol; /* NULL while matching */
    void *session;
    int64_t accepted_us;
    int64_t ended_us; /* time of the shutdown of this side; INT64_MAX: not yet */
    uv_shutdown_t shutdown;
    int64_t write_moved_us; /* time of the last progress of waiting output; INT64_MAX: none waits */
    size_t queued_bytes; /* bytes in uv_write requests */
    size_t first_count; /* number of bytes in first_bytes */
    uint8_t first_bytes[NET_MATCH_BYTES_MAX];
    char peer[NET_ADDRESS_BYTES];
};

struct net_listener {
    uv_tcp_t tcp; /* first */
    struct net_server *server;
    bool open;
    bool
        waiting; /* a connection could not be accepted for lack of memory; libuv holds it and does not report it again */
};

struct net_server {
    uv_loop_t *loop;
    struct net_config config;
    struct net_protocol protocols[NET_PROTOCOLS_MAX];
    struct net_listener listeners[NET_LISTENERS_MAX];
    size_t listener_count;
    struct net_connection *connections;
    size_t closing_count; /* number of connections whose sockets are closing */
    struct net_idle_list idle_connections;
    struct net_idle_list
        leaving_connections; /* idle connections that were asked to close, or are closing by themselves */
    struct net_connection *dirty; /* connections with unwritten output; oldest first */
    struct net_connection *dirty_last;
    size_t dirty_count;
    struct net_connection *held; /* connections that wait for a turn; longest wait first */
    struct net_connection *held_last;
    size_t held_count;
    int64_t hurried_left_us; /* remaining time in this turn for connections whose bytes take long */
    struct net_address *addresses[NET_ADDRESS_CHAINS];
    size_t address_count;
    uint64_t turn; /* turn of the loop, counted from 1 */
    uv_prepare_t prepare; /* flushes output produced by timers */
    uv_check_t check; /* flushes output produced by the turn's events */
    uv_idle_t idle; /* active while a connection is dirty, so that the loop does not block */
    uv_timer_t timer;
    uint32_t handles_open; /* number of open listeners and handles above */
    int64_t sessions_ticked_us;
    int64_t drain_deadline_us; /* deadline of draining; INT64_MAX: not draining */
    bool draining;
    bool closing;
    void (*on_drained)(void *user);
    void *on_drained_user;
    void (*on_closed)(void *user);
    void *on_closed_user;
    struct net_stats stats;
    size_t gathered_bytes; /* bytes in write_buffer: output of the current connection */
    uint8_t read_buffer[NET_READ_BYTES];
    uint8_t write_buffer[NET_WRITE_BYTES];
};

int64_t net_now_us(const struct net_server *server);
/* Accepts the next connection of a listener; false if there is no memory for it, and it waits in
 * libuv. */
MUST_CHECK bool net_connection_accept(struct net_server *server, uv_stream_t *listener);
/* net_bind.c: adds a fault: the address cannot be listened on, with the text and advice for an
 * errno. */
enum err net_say_not_listening(struct fault *fault, const char *address, int code);
/* net_address.c */
/* Counts the connection under its peer's address; false if that has reached its limit. */
MUST_CHECK bool net_address_enter(struct net_connection *connection,
                                  const struct sockaddr_storage *peer);
/* Charges the connection's address for a connection that was ended for misuse. */
void net_address_blame(struct net_connection *connection);
/* Uncounts a connection that is closing. */
void net_address_leave(struct net_connection *connection);
/* Forgets addresses without connections whose allowance is full again. */
void net_server_forget_addresses(struct net_server *server, int64_t now_us);
void net_server_free_addresses(struct net_server *server);
/* Writes the session's output, as far as the turn's byte limit and the queue allow. */
void net_connection_flush(struct net_connection *connection);
void net_connection_mark_dirty(struct net_connection *connection);
void net_connection_leave_dirty(struct net_connection *connection);
void net_connection_tick(struct net_connection *connection, int64_t now_us);
/* Feeds received bytes to the session and notes how long that took; returns how many were fed
 * before the time was over. */
size_t net_connection_feed_for(struct net_connection *connection, struct slice bytes,
                               int64_t limit_us);
void net_connection_read_start(struct net_connection *connection);
/* net_idle.c */
/* Updates whether the connection is idle. */
void net_connection_note_idle(struct net_connection *connection);
void net_connection_leave_idle(struct net_connection *connection);
/* Makes room for one more connection, which is already counted; false if there is none. */
MUST_CHECK bool net_server_make_room(struct net_server *server);
/* net_held.c */
/* Holds the bytes (possibly none) for the connection's next turn, and stops reading until then.
 * False if they cannot be held: the caller then feeds them now. */
MUST_CHECK bool net_connection_hold(struct net_connection *connection, struct slice bytes);
/* Removes the connection from the held list, if it is in it; reading resumes, unless it is
 * closing. */
void net_connection_let_held_go(struct net_connection *connection);
/* Serves held connections, as far as the turn's time allows. */
void net_server_serve_held(struct net_server *server);
/* Closes the connection. May be called in any state. */
void net_connection_close(struct net_connection *connection);
/* Reports that a connection is gone, or something else that a drain or close may wait for. */
void net_server_note_gone(struct net_server *server);
/* Translates libuv's codes. */
enum err net_err_of_uv(int code);

#endif
