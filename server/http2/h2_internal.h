/*
 * h2_internal.h: fields of a connection and its streams; private to this folder.
 */
#ifndef ERRATA_SERVER_HTTP2_H2_INTERNAL_H
#define ERRATA_SERVER_HTTP2_H2_INTERNAL_H

#include "server/http2/h2.h"
#include "server/http2/h2_guard.h"
#include "server/http2/h2_memory.h"

#include <nghttp2/nghttp2.h>

/* Consumed bytes are reported to nghttp2 in steps of this size, since most requests are smaller and
 * need no WINDOW_UPDATE. nghttp2 reopens a window at half of it, which is much more. */
#define H2_REPORTED_BYTES (16u * 1024)
_Static_assert(H2_REPORTED_BYTES <= H2_STREAM_WINDOW_BYTES / 8,
               "a window opens before it is used up");

struct h2_shared {
    const struct h2_handlers *handlers;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    struct h2_memory memory;
    struct h2_stream *pool; /* closed streams for reuse */
    uint32_t pool_count;
    struct h2_stats stats;
};

struct h2_stream {
    struct h2_conn *conn;
    struct h2_stream *next; /* next in the connection's list if open, otherwise in the pool */
    struct h2_stream *previous; /* previous in the connection's list */
    void *user; /* owned by the layer above */
    int32_t id;
    uint32_t generation;
    uint32_t header_list_bytes; /* size of the header list as defined by RFC 9113 */
    uint32_t unconsumed_bytes; /* bytes received but not yet returned to the window */
    uint32_t untold_bytes; /* consumed, but not reported to nghttp2 yet; below H2_REPORTED_BYTES */
    uint32_t progress_bytes; /* bytes sent since `blocked_since_us` */
    int64_t blocked_since_us; /* start of the current wait of output; INT64_MAX: none waits */
    struct slice text; /* unsent part of a text of h2_stream_respond_text */
    int64_t
        linger_until_us; /* time until which the rest of the request is read after the response; INT64_MAX: it is not read */
    bool is_text; /* answered by h2_stream_respond_text */
    bool lingers; /* the rest of the request is ignored, and read for a while after the response */
    bool fields_end; /* the request's first header block is complete */
    bool request_end; /* the peer has ended its side */
    bool wants_drained;
};

/* The buffer that drain writes to; set while drain runs. */
struct h2_output {
    uint8_t *next;
    uint8_t *end;
};

struct h2_conn {
    struct h2_shared *shared;
    void *user;
    nghttp2_session *session;
    struct h2_stream *streams; /* open streams */
    struct h2_stream *recent; /* the last stream nghttp2 reported; NULL: none, or it is closed */
    uint32_t stream_count;
    uint32_t feed_requests_max; /* maximum number of requests in one h2_conn_feed */
    uint32_t drained_wanted; /* number of streams with `wants_drained` */
    uint32_t
        untold_bytes; /* bytes of all streams that were consumed but not reported to nghttp2 yet */
    struct h2_output output;
    struct slice
        pending; /* rest of a frame that did not fit; owned by nghttp2 until the next mem_send */
    struct h2_guard guard;
    struct h2_bucket own_resets;
    int64_t now_us; /* last time passed in */
    int64_t started_us;
    int64_t ticked_us;
    int64_t idle_since_us; /* time of the end of the last stream; INT64_MAX: a stream is open */
    int64_t peer_ping_us; /* the last one received; 0: none */
    int64_t ping_sent_us; /* time of an unanswered PING of this server; INT64_MAX: none */
    int64_t ping_due_us; /* number of the next ping of our own */
    int64_t notice_us; /* time of the first GOAWAY; INT64_MAX: none */
    uint32_t ping_strikes;
    uint32_t block_bytes; /* size of the current header block, over the frames received so far */
    uint32_t depth; /* nesting of feed and drain: output created inside does not need on_output */
    bool settings_patched; /* the first SETTINGS frame has gone out */
    bool final_goaway; /* the second GOAWAY of a shutdown was submitted */
    bool failed; /* a GOAWAY with an error is queued: nothing more is read */
    bool rate_limited; /* ended with ENHANCE_YOUR_CALM */
    bool closing; /* inside h2_conn_free: on_output is no longer called */
    bool done; /* nothing more is written */
};

/* Ends the connection with GOAWAY; `why` is its debug data. */
void h2_conn_fail(struct h2_conn *conn, enum h2_code code, const char *why);
/* Calls on_output, unless feed or drain is running. */
void h2_conn_note_output(struct h2_conn *conn);
/* A ping was received; an answer to one of ours was received. */
void h2_conn_note_ping(struct h2_conn *conn);
void h2_conn_note_pong(struct h2_conn *conn, const uint8_t *payload);
/* Translates nghttp2's codes. */
enum err h2_err_of_nghttp2(int code);

/* Returns NULL if out of memory. */
struct h2_stream *h2_stream_open(struct h2_conn *conn, int32_t id);
void h2_stream_close(struct h2_stream *stream);

/* Creates the table of nghttp2 callbacks. */
MUST_CHECK enum err h2_callbacks_new(nghttp2_session_callbacks **ret_callbacks);

#endif
