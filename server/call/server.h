/*
 * server.h: the state shared by all calls of one server, for all protocols: limits, handlers, the
 * pool of calls, deadlines and counters. Independent of libuv and of protocols, which borrow the
 * server.
 */
#ifndef ERRATA_SERVER_CALL_SERVER_H
#define ERRATA_SERVER_CALL_SERVER_H

#include "server/call/call.h"
#include "server/call/plain.h"

/* Default maximum bytes of a request message; configurable. */
#define CALL_MESSAGE_BYTES_MAX (16u << 20)
/* Maximum concurrent calls of all connections; further calls get UNAVAILABLE. */
#define CALL_LIVE_MAX 16384
/* Maximum calls of one connection while more than half of the allowed calls are live. */
#define CALL_PRESSED_PER_CONNECTION 8
/* Maximum received bytes of request messages in memory, of all calls; above it RESOURCE_EXHAUSTED.
 * Messages larger than the second limit must leave a quarter of it to others. */
#define CALL_BODY_BYTES_MAX (256u << 20)
#define CALL_SMALL_MESSAGE_BYTES (64u << 10)
/* Maximum factor by which a compressed message may grow, and a size that is always allowed. Text
 * grows by a factor of about 5 to 50; inflating 16 KiB to 16 MiB takes as long as a thousand
 * lookups. */
#define CALL_INFLATED_TIMES_MAX 128
#define CALL_INFLATED_BYTES_MIN ((size_t)1 << 20)
/* Maximum bytes of replies of one connection that wait for its peer; above it, its further requests
 * wait. And of all connections: if half of this is used, the former limit is reduced to that of one
 * stream. */
#define CALL_SHARE_OUTPUT_BYTES_HIGH ((size_t)4 << 20)
#define CALL_OUTPUT_BYTES_MAX (256u << 20)
/* Memory limit of a call's arena: the request, its decoded form, and the reply. */
#define CALL_ARENA_BYTES_MAX (128u << 20)
/* Maximum calls whose memory is kept for reuse. */
#define CALL_POOL_MAX 256
/* Replies smaller than this are not worth compressing. */
#define CALL_COMPRESS_BYTES_MIN 1024
/* Replies larger than this are compressed only if the request was, since that takes the loop more than
 * 2 ms. */
#define CALL_COMPRESS_OFFERED_BYTES_MAX ((size_t)64 * 1024)
/* Minimum bytes of a request that must arrive in each such interval, until its end. A bidi stream,
 * whose peer may be silent for long, must only complete a message that it has begun. The third
 * value is the interval of the checks. */
#define CALL_BODY_DEADLINE_US (60 * INT64_C(1000000))
#define CALL_BODY_PROGRESS_BYTES (64u * 1024)
#define CALL_BODY_CHECK_US (5 * INT64_C(1000000))
/* The interval while more than half of the memory for requests, or of the allowed calls, is in
 * use. */
#define CALL_BODY_PRESSED_US (10 * INT64_C(1000000))
/* Maximum timeout; longer ones are reduced to it. */
#define CALL_TIMEOUT_US_MAX (INT64_C(365) * 24 * 3600 * 1000000)

struct call_config {
    const struct call_handlers *handlers; /* functions that handle calls; must outlive the server */
    /* contract_find_method; its results are valid until the program ends. */
    const struct method_info *(*find_method)(struct slice path);
    size_t message_bytes_max;
    size_t arena_bytes_max;
    uint64_t body_bytes_max;
    uint32_t live_max;
    /* Runs `work` on another thread, then `done` on this one, never inside this call; ERR_BUSY if
     * the queue is full. For work that would delay all calls: large compressed messages, and
     * freeing large memory. NULL: there is no other thread, and the work is done at once. */
    enum err (*run_on_pool)(void *user, void (*work)(void *job),
                            void (*done)(void *job, enum err result), void *job);
    void *pool_user;
    /* Paths may also begin with this, such as `/errata`, for proxies that select a server by it and do not
     * remove it. Empty: none. The bytes must outlive the server. */
    struct slice path_prefix;
    /* Requests of HTTP that are not calls; must outlive the server. NULL: there are none. */
    const struct plain_table *plain;
    /* Adds a google.rpc.Status with the reason to errors of the transport, in addition to code and
     * message. */
    bool sends_reasons;
};

/* Counters since the start; those named `live` are present values. */
struct call_stats {
    uint64_t calls_started; /* calls passed to on_start */
    uint64_t calls_refused; /* calls refused by the transport before that */
    uint64_t calls_ended[STATUS_UNAUTHENTICATED +
                         1]; /* ended calls by status code, including refused ones */
    uint64_t calls_cancelled; /* the peer cancelled, or the connection was lost */
    uint64_t calls_expired; /* the deadline passed, or the request did not arrive completely */
    uint64_t calls_live;
    uint64_t messages_in;
    uint64_t messages_out;
    uint64_t message_bytes_in; /* message bytes on the wire, without their heads */
    uint64_t message_bytes_out;
    uint64_t
        metadata_dropped; /* metadata fields of services beyond the limit, which were dropped */
    uint64_t body_bytes_live;
    uint64_t output_bytes_live; /* size of the responses that wait for their peers */
};

struct call_server;

/* Returns a configuration with the limits above. */
struct call_config call_config_default(const struct call_handlers *handlers);
MUST_CHECK enum err call_server_new(const struct call_config *config, int64_t now_us,
                                    struct call_server **ret_server);
/* Ends calls that have exceeded their time. Call it several times per second. */
void call_server_tick(struct call_server *server, int64_t now_us);
struct call_stats call_server_stats(const struct call_server *server);
/* Frees the server. All sessions must be closed and all calls finished. Accepts NULL. */
void call_server_free(struct call_server *server);

#endif
