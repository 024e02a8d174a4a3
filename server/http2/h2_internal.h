/*
 * h2_internal.h: fields of a connection and its streams, for this folder alone.
 */
#ifndef ERRATA_SERVER_HTTP2_H2_INTERNAL_H
#define ERRATA_SERVER_HTTP2_H2_INTERNAL_H

#include "server/http2/h2.h"
#include "server/http2/h2_guard.h"
#include "server/http2/h2_memory.h"

#include <nghttp2/nghttp2.h>

/* Consumed bytes are told to nghttp2 in steps of so many, since most requests are smaller and need no
 * window of their own. It opens a window by halves, of which this is a small part. */
#define H2_TOLD_BYTES (16u * 1024)
_Static_assert(H2_TOLD_BYTES <= H2_STREAM_WINDOW_BYTES / 8, "a window opens before it is used up");

struct h2_shared {
    const struct h2_handlers *handlers;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    struct h2_memory memory;
    struct h2_stream *pool; /* closed streams, kept for the next ones */
    uint32_t pool_count;
    struct h2_stats stats;
};

struct h2_stream {
    struct h2_conn *conn;
    struct h2_stream *next; /* in the connection's list while open, in the pool after */
    struct h2_stream *previous; /* in the connection's list */
    void *user; /* the layer above's */
    int32_t id;
    uint32_t generation;
    uint32_t header_list_bytes; /* as RFC 9113 counts them */
    uint32_t unconsumed_bytes; /* received, and held against the window */
    uint32_t untold_bytes; /* consumed, which nghttp2 does not know yet; below H2_TOLD_BYTES */
    uint32_t progress_bytes; /* of output, since `blocked_since_us` */
    int64_t blocked_since_us; /* output waits since; INT64_MAX: none does */
    struct slice text; /* of h2_stream_respond_text: what is left to be sent */
    int64_t linger_until_us; /* of the request's rest after the text; INT64_MAX: not waited for */
    bool is_text; /* answered by h2_stream_respond_text */
    bool fields_end; /* the request's first header block is whole */
    bool request_end; /* the peer has ended its side */
    bool wants_drained;
};

/* Where drain writes to; set for its length. */
struct h2_output {
    uint8_t *next;
    uint8_t *end;
};

struct h2_conn {
    struct h2_shared *shared;
    void *user;
    nghttp2_session *session;
    struct h2_stream *streams; /* open ones */
    struct h2_stream *recent; /* the one that nghttp2 told of last; NULL: none, or it is closed */
    uint32_t stream_count;
    uint32_t feed_requests_max; /* of one h2_conn_feed */
    uint32_t drained_wanted; /* streams with `wants_drained` */
    uint32_t untold_bytes; /* of all requests: consumed, which nghttp2 does not know yet */
    struct h2_output output;
    struct slice pending; /* of a frame that did not fit; nghttp2's until the next mem_send */
    struct h2_guard guard;
    struct h2_bucket own_resets;
    int64_t now_us; /* as last told */
    int64_t started_us;
    int64_t ticked_us;
    int64_t idle_since_us; /* no stream is open since; INT64_MAX: one is */
    int64_t peer_ping_us; /* the last one received; 0: none */
    int64_t ping_sent_us; /* our own, unanswered; INT64_MAX: none */
    int64_t ping_due_us; /* the next one of our own */
    int64_t notice_us; /* of the first GOAWAY; INT64_MAX: none */
    uint32_t ping_strikes;
    uint32_t
        block_bytes; /* of the header block that is being read, in the frames that have begun */
    uint32_t depth; /* of feed and drain: output made inside needs no on_output */
    bool settings_patched; /* the first SETTINGS frame has gone out */
    bool final_goaway; /* the second GOAWAY of a shutdown was submitted */
    bool failed; /* a GOAWAY with an error is on its way: nothing is read any more */
    bool calmed; /* with ENHANCE_YOUR_CALM */
    bool closing; /* inside h2_conn_free: nobody is told of output any more */
    bool done; /* nothing is written any more either */
};

/* Ends the connection with GOAWAY; `why` is for whoever debugs the peer. */
void h2_conn_fail(struct h2_conn *conn, enum h2_code code, const char *why);
/* Tells the layer below that output waits, unless it is looking already. */
void h2_conn_note_output(struct h2_conn *conn);
/* A ping came; an answer to one of ours came. */
void h2_conn_note_ping(struct h2_conn *conn);
void h2_conn_note_pong(struct h2_conn *conn, const uint8_t *payload);
/* nghttp2's codes, translated at the border. */
enum err h2_err_of_nghttp2(int code);

/* NULL where memory is short. */
struct h2_stream *h2_stream_open(struct h2_conn *conn, int32_t id);
void h2_stream_close(struct h2_stream *stream);

/* The table of nghttp2 callbacks, new. */
MUST_CHECK enum err h2_callbacks_new(nghttp2_session_callbacks **ret_callbacks);

#endif
