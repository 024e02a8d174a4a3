/*
 * channel.h: a channel that outlives its connections: it opens one when a call needs it and another
 * when that is lost or closed by the server, waits between attempts, and repeats calls that may be
 * repeated. client/include/errata/client.h documents the guarantees for users; this implements them
 * without a socket or a loop: a connector provides connections, and the owner steps the channel
 * when something is due (channel_loop.h does both over libuv; tests simulate both).
 *
 * It implements stub.h's operations over the connections'. A call here has one attempt on one
 * connection at a time; the request's bytes are kept until the call cannot be repeated any more.
 */
#ifndef ERRATA_CLIENT_CHANNEL_H
#define ERRATA_CLIENT_CHANNEL_H

#include "client/stub.h"
#include "store/base/clock.h"
#include "store/base/random.h"

#include <errata/client.h>

/* Values of the defaults documented in the public header. */
#define CLIENT_ATTEMPTS_DEFAULT 8u
#define CLIENT_BACKOFF_INITIAL_MS 100
#define CLIENT_BACKOFF_MAX_MS 5000
#define CLIENT_CALL_TIMEOUT_MS 30000
#define CLIENT_CHANNEL_CALLS_MAX 10000u
/* Maximum connections that the server is closing and that still have running calls; if there are
 * more, the oldest is closed with its calls. */
#define CLIENT_DRAINING_MAX 4
/* Maximum repeats after errors of the server (it is overloaded): a bucket with this many tokens.
 * Each repeat takes one; each call that ends with OK returns a fifth. If it is empty, calls end
 * with the server's status, so that clients do not add to an overload (gRPC proposal A6). */
#define CLIENT_RETRY_TOKENS_MAX 100u

/* Opens connections for a channel. */
struct client_connector {
    void *user;
    /* Starts to connect; calls can be started on the connection at once, and wait. The listener is
     * copied. ERR_MEMORY, ERR_INVALID. */
    enum err (*open)(void *user, const struct client_connection_listener *listener,
                     struct client_channel **ret_connection);
    /* Closes a connection; its listener is no longer called. Remaining calls on it end with
     * CANCELLED, now or later, even after the channel's own end: each on_end is called once. Called
     * by a step. */
    void (*close)(void *user, struct client_channel *take_connection);
    /* The server refused the token: reads it again from its source, and calls
     * client_channel_note_token if it has changed. NULL: the token has no source. */
    void (*refresh_token)(void *user);
    /* Requests a step of the channel as soon as possible, but not inside this call: something
     * happened inside one of its functions or of its connections' callbacks. Also called when the
     * first call starts and when the last one ends. May be called any number of times. */
    void (*wake)(void *user);
};

struct client_retry_policy {
    uint32_t attempts_max; /* attempts of a call, including the first */
    int64_t backoff_initial_ms;
    int64_t backoff_max_ms;
};

struct client_channel_config {
    struct client_connector connector; /* copied */
    struct client_retry_policy retry;
    int64_t call_timeout_ms; /* default time limit of a unary call; 0: none */
    uint32_t calls_max;
    size_t request_bytes_max; /* maximum size of one message, as for connections */
    struct random *random; /* random source of jitter and idempotency keys; outlives the channel */
    const struct clock *clock; /* outlives the channel */
    const char *server; /* HOST:PORT, for error messages; outlives the channel */
    struct errata_log log; /* copied */
};

enum client_channel_state {
    CLIENT_CHANNEL_IDLE,
    CLIENT_CHANNEL_CONNECTING,
    CLIENT_CHANNEL_READY,
    CLIENT_CHANNEL_BACKOFF
};

struct client_channel_statistics {
    enum client_channel_state state;
    uint32_t calls_under_way;
    uint64_t calls;
    uint64_t attempts;
    uint64_t connections;
    uint64_t connections_lost;
    uint64_t connect_failures;
};

/* Copies the configuration. ERR_MEMORY. */
MUST_CHECK enum err client_channel_new(const struct client_channel_config *config,
                                       struct client_channel **ret_channel);
/* Does the work that is due: opens and closes connections, starts attempts, ends calls whose
 * deadline passed, reports ends. Returns the milliseconds until the latest time of the next step;
 * -1: not before it wakes its owner. Not to be called from a callback of a call, a listener or the
 * connector. */
int64_t client_channel_step(struct client_channel *channel);
/* Ends every call with CANCELLED; the next step reports the ends and closes the connections. Later
 * calls are refused with ERR_UNAVAILABLE. May be called from any callback. */
void client_channel_shut(struct client_channel *channel);
/* Frees the channel. Call it only after client_channel_shut and a complete step after it, so that
 * no call is left. NULL does nothing. */
void client_channel_free(struct client_channel *channel);
void client_channel_read_statistics(const struct client_channel *channel,
                                    struct client_channel_statistics *ret_statistics);
/* Reports that new attempts have another token. */
void client_channel_note_token(struct client_channel *channel);
/* Returns why the server cannot be reached: the error of the last connection attempt, with the
 * address. NULL if a connection is open or no attempt has failed since. Borrowed until the next
 * step. */
const char *client_channel_unreachable(const struct client_channel *channel);

#endif
