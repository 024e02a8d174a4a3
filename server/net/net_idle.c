/*
 * net_idle.c: connections without an open request, in the order in which they became idle. When
 * connections run short, the longest idle ones are closed first; their clients reconnect when they
 * need to. The protocol decides which requests are open.
 */
#include "server/net/net_internal.h"
#include "store/base/assert.h"

void net_connection_leave_idle(struct net_connection *connection)
{
    struct net_idle_list *list = connection->idle_list;

    if (list == NULL) {
        return;
    }
    if (connection->idle_previous != NULL) {
        connection->idle_previous->idle_next = connection->idle_next;
    } else {
        list->first = connection->idle_next;
    }
    if (connection->idle_next != NULL) {
        connection->idle_next->idle_previous = connection->idle_previous;
    } else {
        list->last = connection->idle_previous;
    }
    connection->idle_list = NULL;
}

static void net_idle_enter(struct net_idle_list *list, struct net_connection *connection)
{
    ASSERT(connection->idle_list == NULL);
    connection->idle_list = list;
    connection->idle_next = NULL;
    connection->idle_previous = list->last;
    if (list->last != NULL) {
        list->last->idle_next = connection;
    } else {
        list->first = connection;
    }
    list->last = connection;
}

static int64_t net_idle_since_us(const struct net_connection *connection)
{
    switch (connection->state) {
    case NET_MATCHING:
        return connection->accepted_us;
    case NET_OPEN:
        return connection->protocol->idle_since_us != NULL
                   ? connection->protocol->idle_since_us(connection->session)
                   : INT64_MAX;
    case NET_ENDING:
        return connection
            ->accepted_us; /* without a session, any time other than INT64_MAX means idle */
    case NET_CLOSING:
        return INT64_MAX;
    }
    return INT64_MAX;
}

void net_connection_note_idle(struct net_connection *connection)
{
    struct net_server *server = connection->server;
    int64_t since_us = net_idle_since_us(connection);
    struct net_idle_list *list =
        connection->leaving ? &server->leaving_connections : &server->idle_connections;

    if (since_us == connection->idle_since_us &&
        (since_us == INT64_MAX || connection->idle_list == list)) {
        return;
    }
    net_connection_leave_idle(connection);
    connection->idle_since_us = since_us;
    if (since_us != INT64_MAX) {
        net_idle_enter(list, connection);
    }
}

/* Returns the first connection without unwritten or unread bytes: closing it loses nothing. */
static struct net_connection *net_idle_first(const struct net_idle_list *list)
{
    struct net_connection *connection = list->first;

    for (int looks = 0; connection != NULL && looks < NET_IDLE_LOOKS_MAX; looks++) {
        if (!connection->waits && !connection->dirty && connection->queued_bytes == 0) {
            return connection;
        }
        connection = connection->idle_next;
    }
    return NULL;
}

/* Requests a graceful close if the connection's protocol is known; else closes it. */
static void net_idle_ask(struct net_connection *connection)
{
    struct net_server *server = connection->server;

    server->stats.connections_evicted++;
    if (connection->state != NET_OPEN) {
        net_connection_close(connection);
        return;
    }
    connection->leaving = true;
    net_connection_note_idle(connection);
    connection->protocol->shutdown(connection->session, net_now_us(server));
    net_connection_mark_dirty(connection);
}

/* Closes the longest idle connection; false if none may be closed. */
static bool net_idle_close_first(struct net_server *server)
{
    struct net_connection *connection = net_idle_first(&server->leaving_connections);

    if (connection == NULL) {
        connection = net_idle_first(&server->idle_connections);
        if (connection == NULL) {
            return false;
        }
        net_idle_ask(connection);
    }
    if (connection->state == NET_OPEN) {
        net_connection_flush(connection); /* so that the peer receives the reason */
    }
    net_connection_close(connection);
    return true;
}

bool net_server_make_room(struct net_server *server)
{
    size_t open = server->stats.connections_live - server->closing_count;
    size_t max = server->config.connections_max;
    struct net_connection *oldest = server->idle_connections.first;

    if (open > max) {
        return net_idle_close_first(server);
    }
    if (open > NET_CONNECTIONS_SCARCE(max) && oldest != NULL &&
        net_now_us(server) - oldest->idle_since_us >= NET_IDLE_ASK_US) {
        net_idle_ask(oldest);
    }
    return true;
}
