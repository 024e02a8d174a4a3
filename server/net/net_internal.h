/*
 * net_internal.h: fields of the server and its connections, for this folder alone.
 */
#ifndef ERRATA_SERVER_NET_NET_INTERNAL_H
#define ERRATA_SERVER_NET_NET_INTERNAL_H

#include "server/net/server.h"

/* Chains of addresses; with as many as there may be, some 16 each. */
#define NET_ADDRESS_CHAINS 1024

enum net_state {
    NET_MATCHING, /* the first bytes do not say yet which protocol it is */
    NET_OPEN, /* a session has it */
    NET_ENDING, /* no session any more: what is queued is written, what comes is thrown away */
    NET_CLOSING /* uv_close was called */
};

/* What is remembered of an address. */
struct net_address {
    struct net_address *next; /* in its chain */
    uint64_t high; /* IPv4 as it is mapped into IPv6; of IPv6 the first 64 bits alone */
    uint64_t low;
    uint32_t live; /* connections */
    int32_t arrivals_left; /* below 0: none until as many have been earned */
    int64_t refilled_us;
};

/* Connections without an open request; the longest idle first. */
struct net_idle_list {
    struct net_connection *first;
    struct net_connection *last;
};

struct net_connection {
    uv_tcp_t tcp; /* first: libuv's handle */
    struct net_link link; /* what the session sees */
    struct net_server *server;
    struct net_connection *next; /* in the server's list */
    struct net_connection *previous;
    struct net_connection *dirty_next; /* in the dirty list while `dirty` */
    struct net_connection *dirty_previous;
    bool dirty;
    bool waits; /* for a turn, in the held list: nothing is read meanwhile */
    struct net_connection *held_next;
    struct net_connection *held_previous;
    uint8_t *held; /* owned: bytes that came, and wait too; NULL where none do */
    size_t held_bytes; /* of them, from the first on */
    size_t held_taken; /* of them, by the session */
    int64_t feed_us; /* what its last bytes took */
    int64_t step_us; /* what a piece takes, smoothed: a stall of the disk makes nobody heavy */
    uint64_t read_turn; /* the loop's turn in which it was read last: once in each */
    enum net_state state;
    struct net_idle_list
        *idle_list; /* the one of the server's two that has it; NULL: it is not idle */
    struct net_connection *idle_next;
    struct net_connection *idle_previous;
    int64_t idle_since_us; /* INT64_MAX: it is not */
    bool leaving; /* it was asked to, or is ending by itself */
    struct net_address *address; /* NULL: it is not counted */
    const struct net_protocol *protocol; /* NULL while matching */
    void *session;
    int64_t accepted_us;
    int64_t ended_us; /* our side was shut down; INT64_MAX: not yet */
    uv_shutdown_t shutdown;
    int64_t write_moved_us; /* when output that waits last moved; INT64_MAX: none waits */
    size_t queued_bytes; /* in uv_write requests */
    size_t first_count; /* of first_bytes */
    uint8_t first_bytes[NET_MATCH_BYTES_MAX];
    char peer[NET_ADDRESS_BYTES];
};

struct net_listener {
    uv_tcp_t tcp; /* first */
    struct net_server *server;
    bool open;
    bool waiting; /* libuv holds a connection that there was no memory for, and offers it no more */
};

struct net_server {
    uv_loop_t *loop;
    struct net_config config;
    struct net_protocol protocols[NET_PROTOCOLS_MAX];
    struct net_listener listeners[NET_LISTENERS_MAX];
    size_t listener_count;
    struct net_connection *connections;
    size_t closing_count; /* of them: their sockets are closed already */
    struct net_idle_list idle_connections;
    struct net_idle_list
        leaving_connections; /* idle ones that were asked to leave, or end by themselves */
    struct net_connection *dirty; /* output waits; oldest first */
    struct net_connection *dirty_last;
    size_t dirty_count;
    struct net_connection *held; /* connections that wait for a turn; the longest first */
    struct net_connection *held_last;
    size_t held_count;
    int64_t hurried_left_us; /* of this turn, for connections whose bytes take long, or may */
    struct net_address *addresses[NET_ADDRESS_CHAINS];
    size_t address_count;
    uint64_t turn; /* of the loop, counted from 1 */
    uv_prepare_t prepare; /* flushes what timers made */
    uv_check_t check; /* flushes what the turn's events made */
    uv_idle_t idle; /* runs while something is dirty, so that the loop does not sleep on it */
    uv_timer_t timer;
    uint32_t handles_open; /* of the five kinds: listeners, and the four above */
    int64_t sessions_ticked_us;
    int64_t drain_deadline_us; /* INT64_MAX: not draining */
    bool draining;
    bool closing;
    void (*on_drained)(void *user);
    void *on_drained_user;
    void (*on_closed)(void *user);
    void *on_closed_user;
    struct net_stats stats;
    size_t gathered_bytes; /* of write_buffer: output of the connection that has its turn */
    uint8_t read_buffer[NET_READ_BYTES];
    uint8_t write_buffer[NET_WRITE_BYTES];
};

int64_t net_now_us(const struct net_server *server);
/* Takes the next connection of a listener; false where there is no memory for it, and it waits. */
MUST_CHECK bool net_connection_accept(struct net_server *server, uv_stream_t *listener);
/* net_bind.c: says that an address can't be listened on, with the reason of an errno. */
enum err net_say_not_listening(struct fault *fault, const char *address, int code);
/* net_address.c */
/* Counts the connection to its peer's address; false where that has its share. */
MUST_CHECK bool net_address_enter(struct net_connection *connection,
                                  const struct sockaddr_storage *peer);
/* The connection was ended for what was done on it: that costs its address. */
void net_address_blame(struct net_connection *connection);
/* The connection goes. */
void net_address_leave(struct net_connection *connection);
/* Forgets addresses that need not be remembered. */
void net_server_forget_addresses(struct net_server *server, int64_t now_us);
void net_server_free_addresses(struct net_server *server);
/* Writes what the session has, as far as the turn's bytes and the queue allow. */
void net_connection_flush(struct net_connection *connection);
void net_connection_mark_dirty(struct net_connection *connection);
void net_connection_leave_dirty(struct net_connection *connection);
void net_connection_tick(struct net_connection *connection, int64_t now_us);
/* Gives the session what came, and notes how long that took; gives how much it took before the time
 * was over. */
size_t net_connection_feed_for(struct net_connection *connection, struct slice bytes,
                               int64_t limit_us);
void net_connection_read_start(struct net_connection *connection);
/* net_idle.c */
/* Notes whether it is idle now. */
void net_connection_note_idle(struct net_connection *connection);
void net_connection_leave_idle(struct net_connection *connection);
/* Room for one more connection, which is counted already; false if there is no room. */
MUST_CHECK bool net_server_make_room(struct net_server *server);
/* net_held.c */
/* Keeps the bytes (there may be none) for the connection's next turn, and reads no others until then.
 * False where that cannot be: they are to be taken now. */
MUST_CHECK bool net_connection_hold(struct net_connection *connection, struct slice bytes);
/* Waits no more, if it did; reading goes on, unless the connection is closing. */
void net_connection_let_held_go(struct net_connection *connection);
/* Gives those that wait their turns, as far as the time for it goes. */
void net_server_serve_held(struct net_server *server);
/* Safe in any state. */
void net_connection_close(struct net_connection *connection);
/* A connection is gone, or something else that a drain or close may wait for. */
void net_server_note_gone(struct net_server *server);
/* libuv's codes, translated at the border. */
enum err net_err_of_uv(int code);

#endif
