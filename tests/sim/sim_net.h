/*
 * sim_net.h: the network. A link is one TCP connection: two pipes of bytes that take their time,
 * are cut at random, stall, break, or fall silent unnoticed. Both ends see what sockets would show
 * them: bytes, room, an end.
 */
#ifndef ERRATA_TESTS_SIM_SIM_NET_H
#define ERRATA_TESTS_SIM_SIM_NET_H

#include "server/net/protocol.h"
#include "tests/sim/sim.h"

/* Capacity of the sockets of a direction; a sender waits above it. */
#define SIM_PIPE_BYTES ((size_t)96 * 1024)

struct sim_connection;

struct sim_pipe {
    uint8_t *data; /* owned */
    size_t start;
    size_t size; /* number of bytes after `start` */
    size_t room;
    bool moving; /* a piece is on its way */
    bool ended; /* nothing more is written; the end follows the last byte */
    bool reported_end;
    int64_t moved_us;
};

struct sim_link {
    struct net_link server_link; /* must be the first member: the link of the server's session */
    struct sim_link *next; /* next of all links of the run, which are freed at its end */
    struct sim *sim;
    uint64_t number; /* number for the trace */
    struct sim_pipe up; /* bytes to the server */
    struct sim_pipe down;
    bool silent; /* nothing more arrives, without notice to either side */
    bool small_pieces;
    /* The server's end. */
    bool accepted;
    void *session; /* NULL once closed */
    bool dirty; /* in the server's list of links with output */
    struct sim_link *next_dirty;
    /* The client's end; NULL once it let go. */
    struct sim_connection *client;
};

struct sim_net {
    struct sim_link *links;
    uint64_t link_count;
};

void sim_net_open(struct sim *sim);
void sim_net_close(struct sim *sim);

/* A client connects; a little later the server accepts it, or the client learns that there is no server. */
struct sim_link *sim_link_open(struct sim *sim, struct sim_connection *client);
/* Bytes that a pipe takes now, up to SIM_PIPE_BYTES in it. */
size_t sim_pipe_room(const struct sim_pipe *pipe);
void sim_link_write(struct sim_link *link, struct sim_pipe *pipe, struct slice bytes);
/* Ends sending in one direction: the other side notices it after the bytes in flight. */
void sim_link_end(struct sim_link *link, struct sim_pipe *pipe);
/* The connection breaks: bytes on their way are lost, and each end notices after some time. */
void sim_link_reset(struct sim_link *link);
/* The client reads nothing more. */
void sim_link_leave(struct sim_link *link);
/* Draws a link with both ends; NULL if there is none. */
struct sim_link *sim_net_draw_link(struct sim *sim);
/* Silent links break: what a machine in the middle does in the end. */
void sim_net_heal(struct sim *sim);

#endif
