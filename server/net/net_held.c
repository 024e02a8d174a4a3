/*
 * net_held.c: bytes held for their connection's next turn. A connection whose bytes take long
 * (bombs, floods, a thousand requests at once) is served one piece per turn of the loop, round
 * robin with others like it; all other connections are served in between, without delay.
 */
#include "server/net/net_internal.h"
#include "store/base/assert.h"

#include <stdlib.h>

static void net_held_enter(struct net_connection *connection)
{
    struct net_server *server = connection->server;

    connection->held_next = NULL;
    connection->held_previous = server->held_last;
    if (server->held_last != NULL) {
        server->held_last->held_next = connection;
    } else {
        server->held = connection;
    }
    server->held_last = connection;
    server->held_count++;
}

static void net_held_leave(struct net_connection *connection)
{
    struct net_server *server = connection->server;

    if (connection->held_previous != NULL) {
        connection->held_previous->held_next = connection->held_next;
    } else {
        server->held = connection->held_next;
    }
    if (connection->held_next != NULL) {
        connection->held_next->held_previous = connection->held_previous;
    } else {
        server->held_last = connection->held_previous;
    }
    ASSERT(server->held_count > 0);
    server->held_count--;
}

bool net_connection_hold(struct net_connection *connection, struct slice bytes)
{
    struct net_server *server = connection->server;

    ASSERT(!connection->waits);
    if (server->stats.held_bytes_live + bytes.size > NET_HELD_BYTES_MAX) {
        return false;
    }
    if (bytes.size > 0) {
        connection->held = (uint8_t *)malloc(bytes.size);
        if (connection->held == NULL) {
            return false;
        }
        memcpy(connection->held, bytes.data, bytes.size);
    }
    connection->waits = true;
    connection->held_bytes = bytes.size;
    connection->held_taken = 0;
    server->stats.held_bytes_live += bytes.size;
    (void)uv_read_stop((uv_stream_t *)&connection->tcp);
    net_held_enter(connection);
    return true;
}

void net_connection_let_held_go(struct net_connection *connection)
{
    if (!connection->waits) {
        return;
    }
    connection->waits = false;
    net_held_leave(connection);
    connection->server->stats.held_bytes_live -= connection->held_bytes;
    free(connection->held);
    connection->held = NULL;
    if (connection->state != NET_CLOSING) {
        net_connection_read_start(connection);
    }
}

/* Feeds one piece of the held bytes; if there are none, allows the next read. Returns the time
 * charged to the turn: for a read, as much as the last one took. */
static int64_t net_held_serve(struct net_connection *connection)
{
    struct slice bytes = slice_of(connection->held + connection->held_taken,
                                  connection->held_bytes - connection->held_taken);

    if (bytes.size > 0 || connection->link.holds_input) {
        connection->held_taken += net_connection_feed_for(connection, bytes, NET_FEED_US);
    }
    if (!connection->waits) {
        return connection
            ->feed_us; /* feeding closed the connection: it has no session, and nothing to feed */
    }
    net_held_leave(connection);
    net_held_enter(connection); /* moved to the end of the queue */
    if (!connection->link.holds_input &&
        (bytes.size == 0 ||
         (connection->held_taken == connection->held_bytes && connection->feed_us < NET_FEED_US))) {
        net_connection_let_held_go(connection);
    }
    return connection->feed_us;
}

void net_server_serve_held(struct net_server *server)
{
    server->hurried_left_us = NET_HURRIED_TURN_US;
    for (size_t left = server->held_count;
         left > 0 && server->held != NULL && server->hurried_left_us > 0; left--) {
        server->hurried_left_us -= net_held_serve(server->held);
    }
}
