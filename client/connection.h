/*
 * connection.h: one connection to one server over TCP, on the caller's libuv loop. Calls may be
 * started at once and wait until the connection is established. If it is lost, or the server closes
 * it, calls end with UNAVAILABLE; channel.h then opens another one. Used on the loop's thread;
 * there is no global state. The program ignores SIGPIPE.
 */
#ifndef ERRATA_CLIENT_CONNECTION_H
#define ERRATA_CLIENT_CONNECTION_H

#include "client/stub.h"

/* Default maximum size of a reply; a larger one ends its call. Above the server's own limit of a
 * request; a page of a list has at most 1 MiB. */
#define CLIENT_MESSAGE_BYTES_MAX ((size_t)64 * 1024 * 1024)
/* Default time limit for establishing a connection. */
#define CLIENT_CONNECT_TIMEOUT_MS 10000
/* Maximum length of a host name (RFC 1035) and, with a colon and a port, of an address. */
#define CLIENT_HOST_BYTES_MAX 255
/* Maximum addresses of one name that are tried. */
#define CLIENT_ADDRESSES_MAX 16

struct tls_context;
struct uv_loop_s;

struct client_connection_config {
    const char *host; /* a name or a numeric address, without brackets; copied */
    uint16_t port;
    struct tls_context
        *tls; /* TLS of a client; NULL: cleartext. The connection becomes a co-owner */
    struct slice token; /* bearer token of each call, or empty; copied */
    const char *user_agent; /* NULL: the library's own; copied */
    size_t reply_bytes_max; /* 0: CLIENT_MESSAGE_BYTES_MAX */
    size_t request_bytes_max; /* maximum size of one message; 0: CLIENT_MESSAGE_BYTES_MAX */
    int64_t connect_timeout_ms; /* 0: CLIENT_CONNECT_TIMEOUT_MS */
    /* Silence, while calls are running, after which a PING is sent; 0: never. Servers limit PINGs
     * without other traffic: Errata accepts one every 10 s. */
    int64_t keepalive_ms;
    int64_t
        keepalive_timeout_ms; /* the connection is lost if a PING is not answered within this time */
    struct client_connection_listener listener; /* listener of state changes; on_state NULL: none */
};

/* Room for HOST:PORT or [IPV6]:PORT, and its NUL. */
#define CLIENT_ADDRESS_BYTES (CLIENT_HOST_BYTES_MAX + 16)

/* Writes HOST:PORT, with brackets around an IPv6 address, into CLIENT_ADDRESS_BYTES bytes. */
void client_address_format(const char *host, uint16_t port, char *text);
/* ERR_INVALID for an invalid host, or port 0. */
MUST_CHECK enum err client_connection_check(const struct client_connection_config *config);
/* Starts connecting. ERR_INVALID for an invalid host, ERR_MEMORY; that the server is unreachable
 * is reported by the calls. The loop outlives the channel. */
MUST_CHECK enum err client_connection_open(struct uv_loop_s *loop,
                                           const struct client_connection_config *config,
                                           struct client_channel **ret_channel);
/* Ends the remaining calls with CANCELLED, then frees the channel and calls `on_closed` (which may
 * be NULL) in a later turn of the loop. May be called from any callback, at most once. */
void client_connection_close(struct client_channel *take_channel, void (*on_closed)(void *user),
                             void *user);

/* Sets the token of later calls; empty: none. On ERR_MEMORY the old one is kept. */
MUST_CHECK enum err client_connection_set_token(struct client_channel *channel, struct slice token);
/* Returns whether no new call can succeed, because the connection is lost or the server is closing
 * it. */
bool client_connection_is_closing(const struct client_channel *channel);

#endif
