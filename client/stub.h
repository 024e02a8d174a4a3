/*
 * stub.h: the interface that generated client stubs use: a channel that starts a call of a method
 * with the request's bytes and reports replies and the end by callbacks. connection.h implements it
 * over HTTP/2 and a libuv loop. Stubs are asynchronous; blocking.h has the blocking form.
 */
#ifndef ERRATA_CLIENT_STUB_H
#define ERRATA_CLIENT_STUB_H

#include "server/codec/contract.h"
#include "store/base/err.h"

/* Maximum waiting bytes of a client stream; above it no more messages are accepted. */
#define CLIENT_SEND_BYTES_HIGH ((size_t)1 << 20)

struct client_metadata {
    struct slice key; /* lower case; values of -bin keys are raw bytes */
    struct slice value;
};

struct client_options {
    int64_t timeout_ms; /* 0: none, or the default of a lasting channel; -1: none */
    const struct client_metadata *metadata; /* borrowed until the starting function returns */
    size_t metadata_count;
    bool gzip; /* compress the request, and accept a compressed response */
    /* Options of a lasting channel; a connection ignores them. */
    bool wait_for_ready; /* connection attempts do not count as attempts */
    bool no_retry; /* make only one attempt */
};

/* The end of a call. Borrowed for the duration of the callback. */
struct client_status {
    uint32_t code; /* status code of gRPC */
    struct slice message;
    struct slice details; /* encoded google.rpc.Status, or empty */
    bool from_server; /* the server ended the call; else this side did (no connection, deadline) */
    bool unseen; /* the server has not seen the call: not sent, refused, or after its GOAWAY */
    uint32_t attempts; /* attempts of a lasting channel's call; 0: nothing was sent */
    struct slice idempotency_key; /* idempotency key of a lasting channel's write, or empty */
    const struct client_metadata
        *metadata; /* metadata of the response's headers and trailers, in order */
    size_t metadata_count;
};

struct client_call; /* a running call; owned by the channel, valid until on_end returns */

struct client_handlers {
    void *user; /* argument of each callback */
    /* Receives the bytes of one reply message, borrowed for the duration of the callback. */
    void (*on_reply)(void *user, struct slice message);
    /* The end of the call: called exactly once, never inside the function that started it. */
    void (*on_end)(void *user, const struct client_status *status);
    /* For a client stream: reports that `send` accepts messages; called first when the call gets a
     * place on a connection, later after each ERR_BUSY. Never called inside a function of the
     * channel. */
    void (*on_writable)(void *user);
};

struct client_channel {
    const struct client_channel_ops *ops;
};

struct client_channel_ops {
    /* Starts a call; handlers are copied, the request is borrowed until this returns. ERR_INVALID for
     * metadata that may not be sent, ERR_TOO_LARGE for a request over the limit, ERR_BUSY for too many
     * calls, ERR_UNAVAILABLE after close, ERR_MEMORY: no callback follows. Everything else is reported by
     * on_end. */
    enum err (*start)(struct client_channel *channel, const struct method_info *method,
                      struct slice request, const struct client_options *options,
                      const struct client_handlers *handlers, struct client_call **ret_call);
    /* Ends a call early: on_end is called with CANCELLED. NULL does nothing. */
    void (*cancel)(struct client_channel *channel, struct client_call *call);
    /* Stops on_reply until resume: flow control pauses the server; nothing is buffered. */
    void (*pause)(struct client_channel *channel, struct client_call *call);
    void (*resume)(struct client_channel *channel, struct client_call *call);
    /* For a client stream, whose start takes an empty request that is not sent: sends one message,
     * which is borrowed until this returns. ERR_BUSY: not taken, since CLIENT_SEND_BYTES_HIGH or
     * more bytes wait for the server to read; on_writable follows. ERR_CANCELLED: the server has
     * answered or the call has ended (on_end reports the status). ERR_TOO_LARGE, ERR_MEMORY, or
     * ERR_INVALID after the half-close or for a call that is not a client stream: not taken, and
     * the call continues. */
    enum err (*send)(struct client_channel *channel, struct client_call *call,
                     struct slice message);
    /* Ends the messages of a client stream. Returns ERR_CANCELLED and ERR_INVALID like `send`. */
    enum err (*half_close)(struct client_channel *channel, struct client_call *call);
};

/* --- what a connection reports to the channel above it --- */

enum client_connection_state {
    CLIENT_CONNECTION_READY, /* established: the socket is open and the server speaks HTTP/2 */
    CLIENT_CONNECTION_DRAINING, /* the server accepts no new calls on it; running ones continue */
    CLIENT_CONNECTION_LOST /* unusable; its calls end in this turn */
};

/* Reports changes of a connection's state, each at most once and in this order; never called inside
 * a function of the connection, and before the ends of calls that result from the change. */
struct client_connection_listener {
    void *user;
    /* `reason`: of LOST, what happened, for people ("cannot connect to [::1]:7443: connection
     * refused"); else empty. Borrowed for the length of the callback. */
    void (*on_state)(void *user, struct client_channel *connection,
                     enum client_connection_state state, struct slice reason);
};

/* --- calls --- */

/* The operations, for callers without a generated stub. */
MUST_CHECK static inline enum err
client_call_start(struct client_channel *channel, const struct method_info *method,
                  struct slice request, const struct client_options *options,
                  const struct client_handlers *handlers, struct client_call **ret_call)
{
    return channel->ops->start(channel, method, request, options, handlers, ret_call);
}

static inline void client_call_cancel(struct client_channel *channel, struct client_call *call)
{
    channel->ops->cancel(channel, call);
}

static inline void client_call_pause(struct client_channel *channel, struct client_call *call)
{
    channel->ops->pause(channel, call);
}

static inline void client_call_resume(struct client_channel *channel, struct client_call *call)
{
    channel->ops->resume(channel, call);
}

MUST_CHECK static inline enum err client_call_send(struct client_channel *channel,
                                                   struct client_call *call, struct slice message)
{
    return channel->ops->send(channel, call, message);
}

MUST_CHECK static inline enum err client_call_half_close(struct client_channel *channel,
                                                         struct client_call *call)
{
    return channel->ops->half_close(channel, call);
}

#endif
