/*
 * sim_connection.h: a client's connection over a simulated link: the library's session (HTTP/2, gRPC)
 * with this file in the place of client/connection.c, and the connector that the library's lasting
 * channel makes connections with.
 */
#ifndef ERRATA_TESTS_SIM_SIM_CONNECTION_H
#define ERRATA_TESTS_SIM_SIM_CONNECTION_H

#include "client/channel.h"
#include "client/session.h"
#include "tests/sim/sim_net.h"

#define SIM_OUTPUT_BYTES ((size_t)16 * 1024)

/* The owner of connections: a channel and its token. */
struct sim_caller {
    struct sim *sim;
    unsigned number; /* number for the trace */
    unsigned org; /* organisation whose data it may see, identified by a letter */
    bool sees_all; /* the server's administrator */
    char token[128];
    struct client_channel *channel; /* owned */
    uint64_t step_order; /* order of the last requested step */
    struct sim_connection *connections; /* all connections, until the end */
};

struct sim_connection {
    struct client_channel base; /* first */
    struct sim_connection *next;
    struct sim_caller *caller;
    struct sim_link *link;
    struct client_session *session; /* NULL once freed */
    struct client_connection_listener listener;
    bool open; /* the server has taken it */
    bool lost;
    bool closing; /* the channel gave it back */
    bool notified_ready;
    bool notified_draining;
    bool notified_lost;
    bool work_asked;
    uint64_t clock_order;
    uint64_t events; /* number of requested events; only the newest clock event counts */
    uint8_t carry[8]; /* the last bytes that came */
};

/* Makes the channel. */
void sim_caller_open(struct sim_caller *caller, struct sim *sim);
/* Ends its calls, and reports their ends. */
void sim_caller_shut(struct sim_caller *caller);
/* Closes the caller, after sim_caller_shut and the resulting events. */
void sim_caller_close(struct sim_caller *caller);

/* Events of links. */
void sim_connection_connected(struct sim_connection *connection, bool accepted);
/* Bytes; none: the end. */
void sim_connection_take(struct sim_connection *connection, struct slice bytes);
void sim_connection_room(struct sim_connection *connection);

/* Checks that these bytes contain no data of another organisation. */
void sim_check_bytes(const struct sim_caller *caller, struct slice bytes, const char *where);

#endif
