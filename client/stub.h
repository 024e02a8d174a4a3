/*
 * stub.h: what generated client stubs stand on: a channel that starts a call of a method with the
 * request's bytes and reports replies and the end by callbacks. Two channels implement it: one over
 * HTTP/2 and a libuv loop (channel.h), one in process for tests. Stubs are asynchronous; channel.h
 * has the blocking form.
 */
#ifndef ERRATA_CLIENT_STUB_H
#define ERRATA_CLIENT_STUB_H

#include "server/codec/contract.h"
#include "store/base/err.h"

struct client_metadata {
    struct slice key; /* lower case; -bin keys take raw bytes */
    struct slice value;
};

struct client_options {
    int64_t timeout_ms; /* 0: none */
    const struct client_metadata *metadata; /* borrowed for the length of the starting call */
    size_t metadata_count;
    bool gzip; /* compress the request, and accept a compressed answer */
};

/* How a call ended. Borrowed for the length of the callback. */
struct client_status {
    uint32_t code; /* gRPC status code */
    struct slice message;
    struct slice details; /* google.rpc.Status, wire bytes, or empty */
};

struct client_call; /* one call under way; the channel's until on_end, NULL-safe */

struct client_handlers {
    /* One reply message's bytes, borrowed for the length of the callback. */
    void (*on_reply)(void *user, struct slice message);
    /* The end, exactly once, never inside the function that started the call. */
    void (*on_end)(void *user, const struct client_status *status);
};

struct client_channel {
    const struct client_channel_ops *ops;
};

struct client_channel_ops {
    /* Starts a call; handlers are copied. */
    enum err (*start)(struct client_channel *channel, const struct method_info *method,
                      struct slice request, const struct client_options *options,
                      const struct client_handlers *handlers, void *user,
                      struct client_call **ret_call);
    /* Ends a call early: on_end comes with CANCELLED. */
    void (*cancel)(struct client_channel *channel, struct client_call *call);
};

#endif
