/*
 * server.h: what all calls of one server share, of all protocols: limits, handlers, the
 * pool of calls, deadlines and counters. No libuv, and no protocol: each borrows the server.
 */
#ifndef ERRATA_SERVER_CALL_SERVER_H
#define ERRATA_SERVER_CALL_SERVER_H

#include "server/call/call.h"

/* The largest request message; configuration may say less or more. */
#define CALL_MESSAGE_BYTES_MAX (16u << 20)
/* Calls at once, all connections together: above it UNAVAILABLE. */
#define CALL_LIVE_MAX 16384
/* Calls of one connection where more than half of those at once are live. */
#define CALL_PRESSED_PER_CONNECTION 8
/* Request messages in memory at once, all calls together, as far as they have come: above it
 * RESOURCE_EXHAUSTED. Messages above the second limit leave a quarter of it to others. */
#define CALL_BODY_BYTES_MAX (256u << 20)
#define CALL_SMALL_MESSAGE_BYTES (64u << 10)
/* A compressed message may be so many times its size, or so many bytes: text is some 5 to 50 times as
 * large, and 16 KiB that are 16 MiB take as long as a thousand lookups. */
#define CALL_INFLATED_TIMES_MAX 128
#define CALL_INFLATED_BYTES_MIN ((size_t)1 << 20)
/* Answers of one connection that wait for its peer: above it, its next requests wait until some are out.
 * And of all connections: where half of it is taken, the former is no more than one stream's mark. */
#define CALL_SHARE_OUTPUT_BYTES_HIGH ((size_t)4 << 20)
#define CALL_OUTPUT_BYTES_MAX (256u << 20)
/* Memory limit of a call's arena: the request, its decoded form, and the reply. */
#define CALL_ARENA_BYTES_MAX (128u << 20)
/* Calls whose memory is kept for the next ones. */
#define CALL_POOL_MAX 256
/* Replies smaller than this are not worth compressing. */
#define CALL_COMPRESS_BYTES_MIN 1024
/* A request must bring this much of its messages in each such time, or its end. A bidi stream, whose peer
 * may have nothing to ask for long, must only go on with a message that it has begun. Looked at so often. */
#define CALL_BODY_DEADLINE_US (60 * INT64_C(1000000))
#define CALL_BODY_PROGRESS_BYTES (64u * 1024)
#define CALL_BODY_CHECK_US (5 * INT64_C(1000000))
/* The same where more than half of the memory, or of the calls, that there is for requests is taken. */
#define CALL_BODY_PRESSED_US (10 * INT64_C(1000000))
/* The longest timeout that is believed; longer ones count as this. */
#define CALL_TIMEOUT_US_MAX (INT64_C(365) * 24 * 3600 * 1000000)

struct call_config {
    const struct call_handlers *handlers; /* functions that handle calls; must outlive the server */
    /* contract_find_method; what it finds stays for ever. */
    const struct method_info *(*find_method)(struct slice path);
    size_t message_bytes_max;
    size_t arena_bytes_max;
    uint64_t body_bytes_max;
    uint32_t live_max;
    /* Runs `work` on another thread, then `done` on this one, never inside this call; ERR_BUSY if
     * no more is taken. For what would hold up everybody: large compressed messages, and giving
     * back large memory. NULL: there is no other thread, and it is done at once. */
    enum err (*run_on_pool)(void *user, void (*work)(void *job),
                            void (*done)(void *job, enum err result), void *job);
    void *pool_user;
    /* The transport's refusals carry their reason in google.rpc.Status, beside code and message. */
    bool sends_reasons;
};

/* Numbers since start, and of now where they say `live`. */
struct call_stats {
    uint64_t calls_started; /* calls passed to on_start */
    uint64_t calls_refused; /* calls refused by the transport before that */
    uint64_t calls_ended[STATUS_UNAUTHENTICATED +
                         1]; /* ended calls by status code, including refused ones */
    uint64_t calls_cancelled; /* the peer or the connection went */
    uint64_t calls_expired; /* the deadline passed, or the request never came whole */
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

/* A config of the limits above. */
struct call_config call_config_default(const struct call_handlers *handlers);
MUST_CHECK enum err call_server_new(const struct call_config *config, int64_t now_us,
                                    struct call_server **ret_server);
/* Ends calls that have exceeded their time. Call it several times per second. */
void call_server_tick(struct call_server *server, int64_t now_us);
struct call_stats call_server_stats(const struct call_server *server);
/* All sessions are closed and all calls finished. Accepts NULL. */
void call_server_free(struct call_server *server);

#endif
