/*
 * net_server.c: listeners, the loop's turn, and both ways to end: drain and close.
 */
#include "server/net/net_internal.h"
#include "store/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

enum err net_err_of_uv(int code)
{
    switch (code) {
    case 0:
        return OK;
    case UV_ENOMEM:
        return ERR_MEMORY;
    case UV_EINVAL:
        return ERR_INVALID;
    default:
        return ERR_UNAVAILABLE;
    }
}

int64_t net_now_us(const struct net_server *server)
{
    return clock_monotonic_us(server->config.clock);
}

static void net_on_idle(uv_idle_t *handle)
{
    (void)handle; /* an active idle handle is enough to keep the loop from sleeping */
}

/* Flushes the connections that are dirty now; those that become dirty meanwhile are flushed in the
 * next round. Requests that waited for output to move are fed here, so slow connections share the
 * turn's time; at least one of them is always flushed. */
static void net_server_flush_dirty(struct net_server *server)
{
    int64_t now_us = net_now_us(server);
    bool any_hurried = false;

    for (size_t left = server->dirty_count; left > 0 && server->dirty != NULL; left--) {
        struct net_connection *connection = server->dirty;
        int64_t begun_us = now_us;

        net_connection_leave_dirty(connection);
        if (connection->link.hurried && any_hurried && server->hurried_left_us <= 0) {
            net_connection_mark_dirty(connection);
            continue;
        }
        any_hurried = any_hurried || connection->link.hurried;
        net_connection_flush(connection);
        now_us = net_now_us(server);
        if (now_us - begun_us >= NET_FEED_US / 2) {
            connection->link.hurried = true;
        }
        if (connection->link.hurried) {
            server->hurried_left_us -= now_us - begun_us;
        }
    }
}

static void net_server_flush(struct net_server *server)
{
    if (server->dirty != NULL) {
        net_server_flush_dirty(server);
    }
    if (server->dirty != NULL || server->held != NULL) {
        (void)uv_idle_start(&server->idle, net_on_idle);
    } else {
        (void)uv_idle_stop(&server->idle);
    }
}

static void net_on_prepare(uv_prepare_t *handle)
{
    struct net_server *server = handle->data;

    net_server_flush(server);
}

static void net_on_check(uv_check_t *handle)
{
    struct net_server *server = handle->data;

    server->turn++;
    net_server_serve_held(server);
    net_server_flush(server);
}

static void net_server_close_connections(struct net_server *server)
{
    for (struct net_connection *at = server->connections; at != NULL; at = at->next) {
        net_connection_close(at);
    }
}

static void net_server_tick_sessions(struct net_server *server, int64_t now_us)
{
    server->sessions_ticked_us = now_us;
    for (struct net_connection *at = server->connections; at != NULL; at = at->next) {
        net_connection_tick(at, now_us);
    }
}

static void net_server_accept_waiting(struct net_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        struct net_listener *listener = &server->listeners[i];

        if (listener->open && listener->waiting) {
            listener->waiting = !net_connection_accept(server, (uv_stream_t *)&listener->tcp);
        }
    }
}

static void net_on_tick(uv_timer_t *handle)
{
    struct net_server *server = handle->data;
    int64_t now_us = net_now_us(server);

    if (server->config.on_tick != NULL) {
        server->config.on_tick(server->config.user, now_us);
    }
    if (now_us - server->sessions_ticked_us >= NET_SESSION_TICK_US) {
        net_server_tick_sessions(server, now_us);
        net_server_forget_addresses(server, now_us);
    }
    if (now_us >= server->drain_deadline_us) {
        net_server_close_connections(server);
    }
    net_server_accept_waiting(server);
    net_server_note_gone(server);
}

static void net_server_start_loop_handles(struct net_server *server)
{
    /* These calls cannot fail on a zeroed handle. */
    (void)uv_prepare_init(server->loop, &server->prepare);
    (void)uv_check_init(server->loop, &server->check);
    (void)uv_idle_init(server->loop, &server->idle);
    (void)uv_timer_init(server->loop, &server->timer);
    server->prepare.data = server;
    server->check.data = server;
    server->idle.data = server;
    server->timer.data = server;
    server->handles_open = 4;
    (void)uv_prepare_start(&server->prepare, net_on_prepare);
    (void)uv_check_start(&server->check, net_on_check);
    (void)uv_timer_start(&server->timer, net_on_tick, NET_TICK_MS, NET_TICK_MS);
}

enum err net_server_new(uv_loop_t *loop, const struct net_config *config,
                        struct net_server **ret_server)
{
    struct net_server *server = NULL;

    if (config->protocol_count > NET_PROTOCOLS_MAX) {
        return ERR_INVALID;
    }
    server = calloc(1, sizeof(*server));
    if (server == NULL) {
        return ERR_MEMORY;
    }
    server->loop = loop;
    server->config = *config;
    if (server->config.address_connections_max == 0) {
        server->config.address_connections_max = NET_ADDRESS_CONNECTIONS_MAX;
    }
    memcpy(server->protocols, config->protocols,
           config->protocol_count * sizeof(server->protocols[0]));
    server->config.protocols = server->protocols;
    server->drain_deadline_us = INT64_MAX;
    server->turn = 1; /* 0 is the turn of connections that were never read */
    net_server_start_loop_handles(server);
    *ret_server = server;
    return OK;
}

static void net_on_connection(uv_stream_t *stream, int status)
{
    struct net_listener *listener = (struct net_listener *)stream;

    if (status == 0) {
        listener->waiting = !net_connection_accept(listener->server, stream);
    }
}

static void net_on_handle_closed(uv_handle_t *handle)
{
    struct net_server *server = handle->data;

    ASSERT(server->handles_open > 0);
    server->handles_open--;
    net_server_note_gone(server);
}

static void net_listener_close(struct net_listener *listener)
{
    if (listener->open) {
        listener->open = false;
        uv_close((uv_handle_t *)&listener->tcp, net_on_handle_closed);
    }
}

enum err net_server_listen(struct net_server *server, struct net_bound *bound, struct fault *fault)
{
    struct net_listener *listener = &server->listeners[server->listener_count];
    int code = 0;

    if (server->listener_count == NET_LISTENERS_MAX) {
        return ERR_INVALID;
    }
    (void)uv_tcp_init(server->loop, &listener->tcp); /* fails only for invalid flags */
    listener->server = server;
    listener->tcp.data = server;
    listener->open = true;
    server->listener_count++;
    server->handles_open++;
    code = uv_tcp_open(&listener->tcp, bound->socket);
    if (code == 0) {
        bound->socket = -1;
        code = uv_tcp_keepalive(&listener->tcp, 1,
                                NET_KEEPALIVE_S); /* connections inherit this option */
    }
    if (code == 0) {
        code = uv_listen((uv_stream_t *)&listener->tcp, NET_BACKLOG, net_on_connection);
    }
    if (code != 0) {
        net_listener_close(listener);
        /* libuv's codes are negated errnos */
        return net_say_not_listening(fault, bound->address, -code);
    }
    return OK;
}

const struct net_stats *net_server_stats(const struct net_server *server)
{
    return &server->stats;
}

void net_server_note_gone(struct net_server *server)
{
    void (*callback)(void *user) = NULL;

    if (server->connections != NULL) {
        return;
    }
    if (server->draining && server->on_drained != NULL) {
        callback = server->on_drained;
        server->on_drained = NULL;
        server->drain_deadline_us = INT64_MAX;
        callback(server->on_drained_user);
        return; /* the connection may be closing now */
    }
    if (server->closing && server->handles_open == 0 && server->on_closed != NULL) {
        callback = server->on_closed;
        server->on_closed = NULL;
        callback(server->on_closed_user); /* this may free the server */
    }
}

static void net_server_stop_listening(struct net_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        net_listener_close(&server->listeners[i]);
    }
}

void net_server_drain(struct net_server *server, int64_t timeout_ms, void (*on_drained)(void *user),
                      void *user)
{
    int64_t now_us = net_now_us(server);

    ASSERT(!server->draining);
    server->draining = true;
    server->on_drained = on_drained;
    server->on_drained_user = user;
    server->drain_deadline_us = now_us + timeout_ms * 1000;
    net_server_stop_listening(server);
    for (struct net_connection *at = server->connections; at != NULL; at = at->next) {
        if (at->state == NET_OPEN) {
            at->protocol->shutdown(at->session, now_us);
            net_connection_mark_dirty(at);
        } else if (at->state == NET_MATCHING) {
            net_connection_close(at);
        }
    }
}

void net_server_close(struct net_server *server, void (*on_closed)(void *user), void *user)
{
    ASSERT(!server->closing);
    server->closing = true;
    server->on_drained = NULL;
    server->on_closed = on_closed;
    server->on_closed_user = user;
    net_server_stop_listening(server);
    net_server_close_connections(server);
    uv_close((uv_handle_t *)&server->prepare, net_on_handle_closed);
    uv_close((uv_handle_t *)&server->check, net_on_handle_closed);
    uv_close((uv_handle_t *)&server->idle, net_on_handle_closed);
    uv_close((uv_handle_t *)&server->timer, net_on_handle_closed);
}

void net_server_free(struct net_server *server)
{
    if (server == NULL) {
        return;
    }
    ASSERT(server->connections == NULL);
    ASSERT(server->handles_open == 0);
    net_server_free_addresses(server);
    free(server);
}
