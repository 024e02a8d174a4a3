/*
 * connection.h: one HTTP/2 connection of the load (RFC 9113), without a socket and without a clock:
 * bytes go in and out. The frames are written and read here by hand, since that is what a generator
 * spends its time on; header blocks are read by libnghttp2's HPACK and written by hpack.h.
 *
 * Calls that the server has no free stream for wait here in order, as they do in clients; their time
 * counts from when they were due all the same.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_CONNECTION_H
#define ERRATA_TOOLS_BENCH_LOAD_CONNECTION_H

#include "tools/bench/load/hpack.h"
#include "tools/bench/load/kind.h"

/* Used if the server sets no limit: more concurrent calls than a connection ever needs. */
#define CONNECTION_STREAMS_MAX 100000
/* Maximum calls that wait for a stream, 16 bytes each. Further calls are not sent, and are counted as such. */
#define CONNECTION_WAITING_MAX ((size_t)1 << 22)
/* No new call starts while more bytes than this wait for the socket. */
#define CONNECTION_OUT_BYTES_MAX ((size_t)256 * 1024)
/* Receive window. It is large so that the generator never blocks the server. */
#define CONNECTION_WINDOW ((uint32_t)1 << 30)
/* Maximum number of the caller's header fields. */
#define CONNECTION_EXTRA_MAX 32
/* Maximum number of header fields of a reply that are read. */
#define CONNECTION_MESSAGE_BYTES_MAX 256
/* Size of the idempotency key of a call. */
#define CONNECTION_KEY_BYTES 40

struct connection;

/* Settings that all connections of a run share; borrowed. */
struct connection_shared {
    const struct load_kind *kinds;
    size_t kind_count;
    struct template_source *source;
    enum hpack_way way;
    bool plain; /* plain HTTP/2 instead of gRPC */
    bool secure; /* the scheme is https */
    bool get;
    bool idempotency_keys;
    uint64_t run_id; /* included in keys, so that they are unique across runs */
    struct slice authority;
    struct hpack_field extra[CONNECTION_EXTRA_MAX];
    size_t extra_count;
    /* Called when a call has ended; must not start a call. */
    void (*on_answer)(void *owner, size_t connection, const struct answer *answer);
    void *owner;
};

/* Creates the connection `index`; `authorization` is "Bearer ..." or empty, and borrowed. Returns
 * ERR_MEMORY, or ERR_INVALID with a fault if there are too many header fields. */
MUST_CHECK enum err connection_new(const struct connection_shared *shared, size_t index,
                                   struct slice authorization, struct fault *fault,
                                   struct connection **ret_connection);
void connection_free(struct connection *take_connection);

/* Returns whether the server's settings have arrived: calls may start. */
bool connection_is_ready(const struct connection *connection);
/* Returns the bytes to send; valid until the next call of a function of this file. */
struct slice connection_output(const struct connection *connection);
void connection_sent(struct connection *connection, size_t size);
/* Reads bytes from the server. Returns ERR_PRECONDITION if the connection cannot continue;
 * connection_problem has the reason. */
MUST_CHECK enum err connection_feed(struct connection *connection, struct slice bytes);
const char *connection_problem(const struct connection *connection);

/* Starts a call, or lets it wait; returns false if too many wait already. */
MUST_CHECK bool connection_start(struct connection *connection, uint32_t kind, uint64_t due_ns);
/* Sends as much as there is room for: bodies that waited for the server's windows, and waiting
 * calls. Called after any other function. Returns ERR_PRECONDITION like connection_feed. */
MUST_CHECK enum err connection_advance(struct connection *connection);
/* Returns whether the connection accepts no more calls and all earlier ones have ended. */
bool connection_is_over(const struct connection *connection);
/* Ends every call in flight as lost; waiting calls are only counted by connection_waiting. */
void connection_abandon(struct connection *connection);

size_t connection_in_flight(const struct connection *connection);
size_t connection_waiting(const struct connection *connection);
/* Returns whether a body waits for a window, or for room in the output. */
bool connection_has_unsent(const struct connection *connection);
/* Removes the oldest waiting call; returns false if there is none. */
bool connection_take_waiting(struct connection *connection, uint64_t *ret_due_ns,
                             uint32_t *ret_kind);
/* Returns the server's limit of concurrent streams. */
uint32_t connection_streams_allowed(const struct connection *connection);

#endif
