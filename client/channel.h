/*
 * channel.h: a channel that outlives its connections: it makes one when a call needs it, another when
 * that is lost or the server closes it, waits between tries, and repeats calls that may be repeated.
 * client/include/errata/client.h documents what users may rely on; this implements it without a socket
 * or a loop: connections come from a connector, and whoever has the channel steps it when something
 * is due (channel_loop.h does both over libuv; tests play both).
 *
 * It implements stub.h's operations over the connections'. A call here has one attempt on one
 * connection at a time; the request's bytes are kept until the call can't be repeated any more.
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
/* Connections that the server is closing and whose calls are still under way; the oldest of more ends,
 * and its calls with it. */
#define CLIENT_DRAINING_MAX 4
/* Repeats after errors of the server (it is overloaded): a bucket of this many, one taken for
 * each, a fifth given back for each call that ends with OK. An empty one ends calls as the server
 * said: a client must not add to what weighs the server down (gRPC proposal A6). */
#define CLIENT_RETRY_TOKENS_MAX 100u

/* Opens connections for a channel. */
struct client_connector {
    void *user;
    /* Starts to connect; calls can be started on the connection at once, and wait. The listener is
     * copied. ERR_MEMORY, ERR_INVALID. */
    enum err (*open)(void *user, const struct client_connection_listener *listener,
                     struct client_channel **ret_connection);
    /* The listener is not called any more. Calls that are left on the connection end with CANCELLED,
     * now or later, even after the channel's own end: each on_end comes once. Called by a step. */
    void (*close)(void *user, struct client_channel *take_connection);
    /* The server did not accept the token: reads it again from where it came from, and calls
     * client_channel_note_token if another one was found. NULL: the token has no source. */
    void (*refresh_token)(void *user);
    /* The channel wants to be stepped as soon as possible, but not now: something happened inside one
     * of its functions or of its connections' callbacks. Also when the first call started and when
     * the last one ended. May be called any number of times. */
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
/* Does what is due: opens and closes connections, starts attempts, ends calls whose deadline passed,
 * reports ends. Returns in how many milliseconds it must be stepped at the latest, -1: not before it
 * wakes its owner. Not to be called from a callback of a call, a listener or the connector. */
int64_t client_channel_step(struct client_channel *channel);
/* Ends every call with CANCELLED; the next step reports the ends and closes the connections. Later
 * calls are refused with ERR_UNAVAILABLE. May be called from any callback. */
void client_channel_shut(struct client_channel *channel);
/* Frees the channel. Call it only after client_channel_shut and a complete step after it, so that
 * no call is left. NULL does nothing. */
void client_channel_free(struct client_channel *channel);
void client_channel_read_statistics(const struct client_channel *channel,
                                    struct client_channel_statistics *ret_statistics);
/* New attempts carry another token from now on. */
void client_channel_note_token(struct client_channel *channel);
/* Returns why the server cannot be reached: the error of the last try to connect, with the address.
 * NULL if a connection is open or no try has failed since. Borrowed until the next step. */
const char *client_channel_unreachable(const struct client_channel *channel);

#endif
