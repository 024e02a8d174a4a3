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
/* No new call starts while more than this waits for the socket. */
#define CONNECTION_OUT_BYTES_MAX ((size_t)256 * 1024)
/* Receive window. It is large so that the generator never blocks the server. */
#define CONNECTION_WINDOW ((uint32_t)1 << 30)
/* The caller's own header fields. */
#define CONNECTION_EXTRA_MAX 32
/* A reply's header fields, of which none matters beyond this. */
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
    /* A call has ended. Starts no call by itself. */
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
/* Bytes from the server. ERR_PRECONDITION if the connection can continue no more; connection_problem
 * states why. */
MUST_CHECK enum err connection_feed(struct connection *connection, struct slice bytes);
const char *connection_problem(const struct connection *connection);

/* Starts a call, or lets it wait; false if too many wait already. */
MUST_CHECK bool connection_start(struct connection *connection, uint32_t kind, uint64_t due_ns);
/* Sends what there is room for now: bodies that the server's windows held back, and waiting calls.
 * Called after anything else. ERR_PRECONDITION as connection_feed. */
MUST_CHECK enum err connection_advance(struct connection *connection);
/* True if the connection accepts no more calls and has answered all earlier ones. */
bool connection_is_over(const struct connection *connection);
/* Ends every call in flight as lost; waiting calls are only counted by connection_waiting. */
void connection_abandon(struct connection *connection);

size_t connection_in_flight(const struct connection *connection);
size_t connection_waiting(const struct connection *connection);
/* A body waits for a window, or for room in the output. */
bool connection_has_unsent(const struct connection *connection);
/* Takes the oldest waiting call back; false if none waits. */
bool connection_take_waiting(struct connection *connection, uint64_t *ret_due_ns,
                             uint32_t *ret_kind);
/* Streams that the server allows at a time. */
uint32_t connection_streams_allowed(const struct connection *connection);

#endif
