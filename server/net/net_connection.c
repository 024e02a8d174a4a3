/*
 * net_connection.c: one socket: detects its protocol, moves bytes to and from the session, and
 * closes it in one place.
 */
#include "server/net/net_internal.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdio.h>
#include <stdlib.h>

/* Output that the socket did not take at once. */
struct net_write {
    uv_write_t request; /* first */
    struct net_connection *connection;
    size_t size;
    uint8_t bytes[];
};

/* A client that speaks an unknown protocol is most likely a browser or curl, so it gets readable
 * text. */
static const char net_unknown_answer[] =
    "HTTP/1.1 505 HTTP Version Not Supported\r\n"
    "content-type: text/plain; charset=utf-8\r\n"
    "content-length: 75\r\n"
    "connection: close\r\n"
    "\r\n"
    "This port speaks gRPC over HTTP/2 without TLS (prior knowledge), no other.\n";

static void net_connection_free(uv_handle_t *handle)
{
    struct net_connection *connection = (struct net_connection *)handle;
    struct net_server *server = connection->server;

    ASSERT(connection->session == NULL);
    ASSERT(!connection->dirty);
    if (connection->previous != NULL) {
        connection->previous->next = connection->next;
    } else {
        server->connections = connection->next;
    }
    if (connection->next != NULL) {
        connection->next->previous = connection->previous;
    }
    server->stats.connections_live--;
    server->closing_count--;
    server->stats.queued_bytes_live -= connection->queued_bytes;
    free(connection);
    net_server_note_gone(server);
}

void net_connection_leave_dirty(struct net_connection *connection)
{
    struct net_server *server = connection->server;

    if (!connection->dirty) {
        return;
    }
    if (connection->dirty_previous != NULL) {
        connection->dirty_previous->dirty_next = connection->dirty_next;
    } else {
        server->dirty = connection->dirty_next;
    }
    if (connection->dirty_next != NULL) {
        connection->dirty_next->dirty_previous = connection->dirty_previous;
    } else {
        server->dirty_last = connection->dirty_previous;
    }
    ASSERT(server->dirty_count > 0);
    server->dirty_count--;
    connection->dirty = false;
}

/* Closes the session, if there is one. */
static void net_connection_close_session(struct net_connection *connection)
{
    void *session = connection->session;

    if (session == NULL) {
        return;
    }
    connection->session = NULL;
    connection->protocol->close(session);
    if (connection->link.rate_limited) {
        net_address_blame(connection);
    }
}

void net_connection_close(struct net_connection *connection)
{
    if (connection->state == NET_CLOSING) {
        return;
    }
    connection->state = NET_CLOSING;
    connection->server->closing_count++;
    net_connection_leave_idle(connection);
    net_connection_close_session(connection);
    net_address_leave(connection);
    net_connection_leave_dirty(connection);
    net_connection_let_held_go(connection);
    uv_close((uv_handle_t *)&connection->tcp, net_connection_free);
}

void net_connection_mark_dirty(struct net_connection *connection)
{
    struct net_server *server = connection->server;

    if (connection->dirty || connection->state != NET_OPEN) {
        return;
    }
    connection->dirty = true;
    connection->dirty_next = NULL;
    connection->dirty_previous = server->dirty_last;
    if (server->dirty_last != NULL) {
        server->dirty_last->dirty_next = connection;
    } else {
        server->dirty = connection;
    }
    server->dirty_last = connection;
    server->dirty_count++;
}

static void net_on_wake(struct net_link *link)
{
    struct net_connection *connection =
        (struct net_connection *)(void *)((char *)link - offsetof(struct net_connection, link));

    net_connection_mark_dirty(connection);
}

static void net_on_written(uv_write_t *request, int status)
{
    struct net_write *write = (struct net_write *)request;
    struct net_connection *connection = write->connection;

    connection->queued_bytes -= write->size;
    connection->server->stats.queued_bytes_live -= write->size;
    connection->write_moved_us =
        connection->queued_bytes > 0 ? net_now_us(connection->server) : INT64_MAX;
    free(write);
    if (connection->state == NET_CLOSING) {
        return;
    }
    if (status < 0) {
        net_connection_close(connection);
        return;
    }
    net_connection_mark_dirty(connection);
}

/* Queues what the socket did not take. */
static enum err net_connection_queue(struct net_connection *connection, struct slice bytes)
{
    struct net_write *write = FAULT("net.write") ? NULL : malloc(sizeof(*write) + bytes.size);
    uv_buf_t buffer;
    int code = 0;

    if (write == NULL) {
        return ERR_MEMORY;
    }
    write->connection = connection;
    write->size = bytes.size;
    memcpy(write->bytes, bytes.data, bytes.size);
    buffer = uv_buf_init((char *)write->bytes, (unsigned)bytes.size);
    code = uv_write(&write->request, (uv_stream_t *)&connection->tcp, &buffer, 1, net_on_written);
    if (code != 0) {
        free(write);
        return net_err_of_uv(code);
    }
    if (connection->queued_bytes == 0) {
        connection->write_moved_us = net_now_us(connection->server);
    }
    connection->queued_bytes += bytes.size;
    connection->server->stats.queued_bytes_live += bytes.size;
    return OK;
}

static enum err net_connection_write(struct net_connection *connection, struct slice bytes)
{
    uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)bytes.data, (unsigned)bytes.size);
    int written = uv_try_write((uv_stream_t *)&connection->tcp, &buffer, 1);

    connection->server->stats.bytes_out += bytes.size;
    if (written == UV_EAGAIN) {
        written = 0;
    }
    if (written < 0) {
        return net_err_of_uv(written);
    }
    if ((size_t)written == bytes.size) {
        return OK;
    }
    return net_connection_queue(connection, slice_after(bytes, (size_t)written));
}

static void net_on_shutdown(uv_shutdown_t *request, int status)
{
    struct net_connection *connection = request->data;

    if (connection->state == NET_CLOSING) {
        return;
    }
    if (status < 0) {
        net_connection_close(connection);
        return;
    }
    if (connection->peer_ended) {
        net_connection_close(connection); /* both sides are shut down */
        return;
    }
    connection->ended_us = net_now_us(connection->server);
}

/* Closes the session, and shuts our side down once everything queued has been written. */
static void net_connection_end(struct net_connection *connection)
{
    net_connection_leave_dirty(connection);
    net_connection_let_held_go(connection);
    if (connection->state == NET_CLOSING) {
        return; /* the socket could not be read */
    }
    connection->state = NET_ENDING;
    connection->leaving = true;
    net_connection_note_idle(connection);
    net_connection_close_session(connection);
    connection->shutdown.data = connection;
    if (uv_shutdown(&connection->shutdown, (uv_stream_t *)&connection->tcp, net_on_shutdown) != 0) {
        net_connection_close(connection);
    }
}

/* Writes the gathered bytes. False if the connection was closed by an error. */
static bool net_connection_write_gathered(struct net_connection *connection)
{
    struct net_server *server = connection->server;
    struct slice bytes = slice_of(server->write_buffer, server->gathered_bytes);

    server->gathered_bytes = 0;
    if (bytes.size > 0 && net_connection_write(connection, bytes) != OK) {
        net_connection_close(connection);
        return false;
    }
    return true;
}

/* The reason why gathering stopped. */
enum net_gathered {
    NET_GATHERED_ALL, /* the session has no more output for now */
    NET_GATHERED_FULL, /* the buffer is full: write it before gathering more */
    NET_GATHERED_HELD /* earlier output waits for the socket: net_on_written continues */
};

/* Drains the session into the write buffer, as far as there is room. */
static enum net_gathered net_connection_gather(struct net_connection *connection)
{
    struct net_server *server = connection->server;
    size_t room = sizeof(server->write_buffer) - server->gathered_bytes;
    size_t size = 0;

    if (connection->queued_bytes > 0) {
        return NET_GATHERED_HELD;
    }
    if (room < NET_ROOM_BYTES_MIN) {
        return NET_GATHERED_FULL;
    }
    size = connection->protocol->drain(connection->session,
                                       server->write_buffer + server->gathered_bytes, room);
    server->gathered_bytes += size;
    return room - size < NET_ROOM_BYTES_MIN ? NET_GATHERED_FULL : NET_GATHERED_ALL;
}

/* Stops or resumes reading, as the session requests. Held connections do that by themselves. */
static void net_connection_note_paused(struct net_connection *connection)
{
    if (connection->waits || connection->link.paused == connection->read_stopped) {
        return;
    }
    connection->read_stopped = connection->link.paused;
    if (connection->read_stopped) {
        (void)uv_read_stop((uv_stream_t *)&connection->tcp);
    } else {
        net_connection_read_start(connection);
    }
}

void net_connection_flush(struct net_connection *connection)
{
    enum net_gathered gathered = NET_GATHERED_FULL;

    for (int round = 0; round < NET_FLUSH_ROUNDS_MAX && gathered == NET_GATHERED_FULL; round++) {
        gathered = net_connection_gather(connection);
        if (!net_connection_write_gathered(connection)) {
            return;
        }
    }
    net_connection_note_paused(connection);
    net_connection_note_idle(connection);
    if (gathered == NET_GATHERED_FULL) {
        net_connection_mark_dirty(connection);
    } else if (connection->protocol->finished(connection->session)) {
        net_connection_end(connection); /* after the output that waits for the socket */
    }
}

/* Feeds the received bytes to the session piece by piece, and drains the output of each piece
 * before the next, so that the replies to many requests are not in memory at once. They are still
 * written together: after the last piece, or when the buffer is full. */
size_t net_connection_feed_for(struct net_connection *connection, struct slice bytes,
                               int64_t limit_us)
{
    int64_t begun_us = net_now_us(connection->server);
    int64_t now_us = begun_us;
    int64_t fed_us = 0;
    size_t taken = 0;

    ASSERT(connection->server->gathered_bytes == 0);
    while ((taken < bytes.size || connection->link.holds_input) && now_us - begun_us < limit_us) {
        bool held = connection->link.holds_input;
        size_t step =
            connection->protocol->feed(connection->session, slice_after(bytes, taken), now_us);

        ASSERT(step > 0 || held);
        ASSERT(step <= bytes.size - taken);
        taken += step;
        if ((taken < bytes.size || connection->link.holds_input) &&
            net_connection_gather(connection) == NET_GATHERED_FULL &&
            !net_connection_write_gathered(connection)) {
            return taken;
        }
        fed_us = now_us;
        now_us = net_now_us(connection->server);
        connection->step_us += (now_us - fed_us - connection->step_us) / 8;
        connection->link.hurried = connection->step_us >= NET_FEED_US / 2;
    }
    connection->feed_us = now_us - begun_us;
    net_connection_flush(connection);
    return taken;
}

/* Feeds received bytes. The part that exceeds this turn's time is held, and so are the bytes
 * received after it. A connection that is neither slow nor new waits for one piece of each slow one
 * at most. */
static void net_connection_feed(struct net_connection *connection, struct slice bytes)
{
    struct net_server *server = connection->server;
    bool hurried = connection->link.hurried;
    size_t taken = 0;

    if (hurried && server->hurried_left_us <= 0 && net_connection_hold(connection, bytes)) {
        return;
    }
    taken = net_connection_feed_for(connection, bytes, NET_FEED_US);
    if (hurried) {
        server->hurried_left_us -= connection->feed_us;
    }
    if (connection->state != NET_OPEN || connection->feed_us < NET_FEED_US ||
        (taken == bytes.size && !connection->link.hurried && !connection->link.holds_input)) {
        return;
    }
    if (!net_connection_hold(connection, slice_after(bytes, taken))) {
        (void)net_connection_feed_for(connection, slice_after(bytes, taken), INT64_MAX);
    }
}

/* Starts the detected protocol; `rest` follows the first bytes. */
static void net_connection_start(struct net_connection *connection,
                                 const struct net_protocol *protocol, struct slice rest)
{
    int64_t now_us = net_now_us(connection->server);

    if (protocol->open(protocol->user, &connection->link, now_us, &connection->session) != OK) {
        net_connection_close(connection);
        return;
    }
    connection->protocol = protocol;
    connection->state = NET_OPEN;
    (void)net_connection_feed_for(
        connection, slice_of(connection->first_bytes, connection->first_count), INT64_MAX);
    if (rest.size > 0 && connection->state == NET_OPEN) {
        net_connection_feed(connection, rest);
    }
}

static void net_connection_answer_unknown(struct net_connection *connection)
{
    struct slice answer = connection->server->config.unknown_answer;

    if (answer.size == 0) {
        answer = slice_of(net_unknown_answer, sizeof(net_unknown_answer) - 1);
    }
    connection->server->stats.connections_unknown++;
    if (net_connection_write(connection, answer) != OK) {
        net_connection_close(connection);
        return;
    }
    net_connection_end(connection);
}

/* Collects first bytes until one protocol matches, or none can. */
static void net_connection_match(struct net_connection *connection, struct slice bytes)
{
    struct net_server *server = connection->server;
    size_t room = sizeof(connection->first_bytes) - connection->first_count;
    size_t step = bytes.size < room ? bytes.size : room;
    struct slice first = {NULL, 0};
    bool more = false;

    memcpy(connection->first_bytes + connection->first_count, bytes.data, step);
    connection->first_count += step;
    first = slice_of(connection->first_bytes, connection->first_count);
    for (size_t i = 0; i < server->config.protocol_count; i++) {
        const struct net_protocol *protocol = &server->protocols[i];
        enum net_match match = protocol->match(first);

        if (match == NET_MATCH_YES) {
            net_connection_start(connection, protocol, slice_after(bytes, step));
            return;
        }
        more = match == NET_MATCH_MORE;
        if (more) {
            break; /* the protocols after it are not tried yet */
        }
    }
    if (!more || connection->first_count == sizeof(connection->first_bytes)) {
        net_connection_answer_unknown(connection);
    }
}

static void net_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buffer)
{
    struct net_connection *connection = (struct net_connection *)handle;

    (void)suggested;
    if (connection->read_turn == connection->server->turn) {
        *ret_buffer = uv_buf_init(NULL, 0); /* UV_ENOBUFS: the bytes stay in the kernel */
        return;
    }
    connection->read_turn = connection->server->turn;
    *ret_buffer = uv_buf_init((char *)connection->server->read_buffer, NET_READ_BYTES);
}

/* The peer has ended its side, but the session may still have to write. */
static void net_connection_note_peer_ended(struct net_connection *connection)
{
    bool goes_on = connection->state == NET_OPEN && connection->protocol->peer_ended != NULL &&
                   connection->protocol->peer_ended(connection->session);

    if (!goes_on) {
        net_connection_close(connection);
        return;
    }
    connection->peer_ended = true;
    (void)uv_read_stop((uv_stream_t *)&connection->tcp);
    net_connection_mark_dirty(connection);
}

static void net_on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct net_connection *connection = (struct net_connection *)stream;
    struct slice bytes = {NULL, 0};

    if (size == 0 || size == UV_ENOBUFS) {
        return; /* nothing was read, or the connection has already been read in this turn */
    }
    if (size == UV_EOF) {
        net_connection_note_peer_ended(connection);
        return;
    }
    if (size < 0) {
        net_connection_close(connection);
        return;
    }
    bytes = slice_of(buffer->base, (size_t)size);
    connection->server->stats.bytes_in += bytes.size;
    switch (connection->state) {
    case NET_MATCHING:
        net_connection_match(connection, bytes);
        return;
    case NET_OPEN:
        net_connection_feed(connection, bytes);
        return;
    case NET_ENDING:
    case NET_CLOSING:
        return; /* bytes after the peer's end are ignored */
    }
}

void net_connection_read_start(struct net_connection *connection)
{
    if (connection->peer_ended || connection->link.paused) {
        connection->read_stopped = connection->link.paused;
        return;
    }
    if (uv_read_start((uv_stream_t *)&connection->tcp, net_on_alloc, net_on_read) != 0) {
        net_connection_close(connection);
    }
}

/* Records the peer's address; false if that has reached its limit of connections. */
static bool net_connection_note_peer(struct net_connection *connection)
{
    struct sockaddr_storage address;
    int size = sizeof(address);
    char host[48] = "";
    uint16_t port = 0;

    if (uv_tcp_getpeername(&connection->tcp, (struct sockaddr *)&address, &size) != 0 ||
        uv_ip_name((struct sockaddr *)&address, host, sizeof(host)) != 0) {
        return true; /* the peer has gone: the next read fails */
    }
    if (address.ss_family == AF_INET6) {
        port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
        (void)snprintf(connection->peer, sizeof(connection->peer), "[%s]:%u", host, port);
    } else {
        port = ntohs(((struct sockaddr_in *)&address)->sin_port);
        (void)snprintf(connection->peer, sizeof(connection->peer), "%s:%u", host, port);
    }
    connection->link.peer = slice_text(connection->peer);
    return net_address_enter(connection, &address);
}

bool net_connection_accept(struct net_server *server, uv_stream_t *listener)
{
    struct net_connection *connection = FAULT("net.accept") ? NULL : calloc(1, sizeof(*connection));
    bool usable = false;

    if (connection == NULL) {
        return false;
    }
    if (uv_tcp_init(server->loop, &connection->tcp) != 0) {
        free(connection);
        return false;
    }
    connection->server = server;
    connection->link.wake = net_on_wake;
    connection->step_us = NET_FEED_US;
    connection->link.hurried = true; /* the cost of its requests is not known yet */
    connection->accepted_us = net_now_us(server);
    connection->write_moved_us = INT64_MAX;
    connection->ended_us = INT64_MAX;
    connection->idle_since_us = INT64_MAX;
    connection->next = server->connections;
    if (server->connections != NULL) {
        server->connections->previous = connection;
    }
    server->connections = connection;
    server->stats.connections_live++;
    server->stats.connections_accepted++;
    usable = uv_accept(listener, (uv_stream_t *)&connection->tcp) == 0;
    if (usable && !(net_connection_note_peer(connection) && net_server_make_room(server))) {
        server->stats.connections_refused++;
        usable = false;
    }
    if (usable && uv_tcp_nodelay(&connection->tcp, 1) == 0) {
        net_connection_note_idle(connection);
        net_connection_read_start(connection);
    } else {
        net_connection_close(connection);
    }
    return true;
}

void net_connection_tick(struct net_connection *connection, int64_t now_us)
{
    if (connection->state == NET_CLOSING) {
        return;
    }
    if (connection->write_moved_us != INT64_MAX &&
        now_us - connection->write_moved_us >= NET_WRITE_DEADLINE_US) {
        net_connection_close(connection);
        return;
    }
    if (connection->state == NET_MATCHING &&
        now_us - connection->accepted_us >= NET_MATCH_DEADLINE_US) {
        net_connection_close(connection);
        return;
    }
    if (connection->ended_us != INT64_MAX && now_us - connection->ended_us >= NET_LINGER_US) {
        net_connection_close(connection);
        return;
    }
    if (connection->state == NET_OPEN) {
        connection->protocol->tick(connection->session, now_us);
    }
}
