/*
 * h2.h: the server side of HTTP/2 (RFC 9113) without I/O: bytes in, bytes out, and events to the
 * layer above. It uses nghttp2, but no socket, loop or clock: the caller passes the time. It does
 * not interpret requests.
 * Everything runs on one thread. Handlers are called inside h2_conn_feed, h2_conn_drain and
 * h2_conn_tick. The h2_stream_* functions may be called from handlers and from anywhere else;
 * h2_conn_feed, _drain, _tick and _free may not be called from handlers.
 */
#ifndef ERRATA_SERVER_HTTP2_H2_H
#define ERRATA_SERVER_HTTP2_H2_H

#include "store/base/err.h"
#include "store/base/slice.h"

/* Maximum open requests of one connection; more are refused with REFUSED_STREAM, and clients queue them. */
#define H2_STREAMS_MAX 128
/* Flow-control window of a stream: bytes of a request that were not consumed yet. */
#define H2_STREAM_WINDOW_BYTES (256u * 1024)
/* Does the same for all streams of a connection. */
#define H2_CONNECTION_WINDOW_BYTES (1024u * 1024)
/* Maximum size of a request's header list: names and values, and 32 bytes per field (RFC 9113, 6.5.2). */
#define H2_HEADER_LIST_BYTES_MAX (16u * 1024)
/* Maximum fields of one header or trailer block of a response. */
#define H2_FIELDS_MAX 56
/* Maximum CONTINUATION frames of one header block: 8 x 16 KiB exceeds any legitimate header list. */
#define H2_CONTINUATIONS_MAX 8
/* Maximum requests, and bytes, that one h2_conn_feed takes. The caller drains their responses
 * before it feeds the next: so the data is still in the processor's caches when it is sent, its
 * memory is reused, and the caller can check the time and serve others in between. */
#define H2_FEED_REQUESTS_MAX 16
#define H2_FEED_BYTES_MAX ((size_t)16 * 1024)
/* A header list is counted up to this size, or to this multiple of its block's bytes. A larger one
 * ends the connection, since each byte may expand to thousands (HPACK references). Huffman coding
 * less than halves a text, so a caller with slightly too much metadata still gets a response. */
#define H2_HEADER_LIST_BYTES_COUNTED (4 * H2_HEADER_LIST_BYTES_MAX)
#define H2_HEADER_LIST_TIMES_MAX 2
/* Maximum entries of one SETTINGS frame, and acknowledgements that wait to be sent. */
#define H2_SETTINGS_MAX 16
#define H2_OUTBOUND_ACKS_MAX 100
/* RST_STREAM frames: received ones (each cancelled or timed-out call sends one), and, in a separate
 * bucket, those sent because of the peer's frames (CVE-2025-8671). A header list above
 * H2_HEADER_LIST_BYTES_MAX counts as one, since it may cost as much as a hundred requests. */
#define H2_RESETS_BURST 1000
#define H2_RESETS_PER_SECOND 200
/* Frames without useful content: pings, DATA below H2_EARNING_DATA_BYTES, trailers, PRIORITY,
 * SETTINGS, WINDOW_UPDATE, unknown ones. */
#define H2_IDLE_FRAMES_BURST 1000
#define H2_IDLE_FRAMES_PER_SECOND 100
#define H2_SMALL_DATA_BYTES 64
/* Idle frames that a useful frame earns back, for the updates it causes. HEADERS of a request earn
 * too, so a small message in a few frames costs nothing. */
#define H2_IDLE_FRAMES_EARNED 4
/* Sent DATA frames with at least this many bytes earn too; smaller ones are caused by a peer that
 * opens its window in small steps. */
#define H2_EARNING_DATA_BYTES 1024
/* A ping within this time of the last one, without DATA or HEADERS sent in between, is a strike.
 * Clients are configured for 10 s; the second less allows for inexact timers. */
#define H2_PING_INTERVAL_US (9 * INT64_C(1000000))
#define H2_PING_STRIKES_MAX 2
/* Time for the first SETTINGS, and for a header block from HEADERS to END_HEADERS. */
#define H2_SETTINGS_DEADLINE_US (10 * INT64_C(1000000))
#define H2_HEADER_BLOCK_DEADLINE_US (10 * INT64_C(1000000))
/* Time for a frame from its first byte to its last. This is half the rate required of a body: a
 * peer that is slower within a frame is gone or stalls. */
#define H2_FRAME_DEADLINE_US (30 * INT64_C(1000000))
/* A connection without an open request is closed gracefully (GOAWAY with NO_ERROR) after this time;
 * clients reconnect when they need to. */
#define H2_IDLE_DEADLINE_US (600 * INT64_C(1000000))
/* Output blocked by the peer's window must progress by this many bytes within this time. */
#define H2_BLOCKED_DEADLINE_US (60 * INT64_C(1000000))
#define H2_BLOCKED_PROGRESS_BYTES (16u * 1024)
/* Interval of keepalive pings while streams are open, and the time for their answer. */
#define H2_KEEPALIVE_US (60 * INT64_C(1000000))
#define H2_KEEPALIVE_ANSWER_US (20 * INT64_C(1000000))
/* Time for which the rest of a request is read after h2_stream_respond_text: a client that is reset
 * while it sends discards the response. The stream's window bounds what it can send. */
#define H2_TEXT_LINGER_US (2 * INT64_C(1000000))
/* Time between the first GOAWAY and the second one, if the ping is not answered before. */
#define H2_SHUTDOWN_NOTICE_US (1 * INT64_C(1000000))
/* Interval of checking the streams' deadlines. */
#define H2_TICK_US (1 * INT64_C(1000000))
/* Maximum closed streams whose memory is kept for reuse. */
#define H2_STREAM_POOL_MAX 4096

/* Minimum room for h2_conn_drain: a whole frame with its header. */
#define H2_DRAIN_BYTES_MIN (16u * 1024 + 9)

/* Error codes that the layer above uses (RFC 9113, 7). */
enum h2_code {
    H2_NO_ERROR = 0,
    H2_PROTOCOL_ERROR = 1,
    H2_INTERNAL_ERROR = 2,
    H2_STREAM_CLOSED = 5,
    H2_REFUSED_STREAM = 7,
    H2_CANCEL = 8,
    H2_ENHANCE_YOUR_CALM = 11
};

/* The client's connection preface (RFC 9113, 3.4). */
#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

struct h2_shared; /* state shared by the connections of a server */
struct h2_conn;
struct h2_stream;

/* A header field; both borrowed. */
struct h2_field {
    struct slice name; /* name in lower case */
    struct slice value;
};

/* The layer above. `user` is the one given to h2_conn_new. */
struct h2_handlers {
    /* A request begins; its fields follow. Call h2_stream_set_user here. */
    void (*on_request)(void *user, struct h2_stream *stream);
    /* Reports one field of the request, pseudo fields first; borrowed for the duration of the call.
     * Also called for fields beyond H2_HEADER_LIST_BYTES_MAX, when h2_stream_is_over_limit is
     * true. */
    void (*on_field)(void *user, struct h2_stream *stream, struct slice name, struct slice value);
    /* All fields were received. */
    void (*on_fields_end)(void *user, struct h2_stream *stream);
    /* Bytes of the body, borrowed for the call. They count against the window until
     * h2_stream_consume. */
    void (*on_data)(void *user, struct h2_stream *stream, struct slice bytes);
    /* The request is complete. */
    void (*on_request_end)(void *user, struct h2_stream *stream);
    /* Returns how many bytes of the response body are ready, at most `max`; sets `ret_end` if
     * nothing follows them. 0 without the end defers the body until h2_stream_resume. */
    size_t (*body_ready)(void *user, struct h2_stream *stream, size_t max, bool *ret_end);
    /* Copies the next `size` bytes of the body, which body_ready reported. */
    void (*body_copy)(void *user, struct h2_stream *stream, uint8_t *to, size_t size);
    /* The body was read to its end. Call h2_stream_send_trailers here and return true, or return
     * false: the response has no trailers. */
    bool (*body_end)(void *user, struct h2_stream *stream);
    /* Called once after h2_stream_want_drained, when the output that was ready has been taken. */
    void (*on_drained)(void *user, struct h2_stream *stream);
    /* The stream is closed and must not be used any more. Called once for each on_request. */
    void (*on_close)(void *user, struct h2_stream *stream);
    /* The connection has output, or is finished, because of an event outside of feed and drain. */
    void (*on_output)(void *user);
};

/* Counters since the start, over all connections. */
struct h2_stats {
    uint64_t streams_refused; /* streams refused because of H2_STREAMS_MAX */
    uint64_t connections_rate_limited; /* connections ended with ENHANCE_YOUR_CALM */
    uint64_t connections_idle; /* connections closed after H2_IDLE_DEADLINE_US without a request */
    uint64_t streams_live;
    uint64_t connections_live;
};

/* `handlers` must outlive it. */
MUST_CHECK enum err h2_shared_new(const struct h2_handlers *handlers,
                                  struct h2_shared **ret_shared);
const struct h2_stats *h2_shared_stats(const struct h2_shared *shared);
/* Call when no connection exists. Accepts NULL. */
void h2_shared_free(struct h2_shared *shared);

/* Creates a connection, before the first byte of the client's preface. */
MUST_CHECK enum err h2_conn_new(struct h2_shared *shared, void *user, int64_t now_us,
                                struct h2_conn **ret_conn);
/* Takes bytes from the peer, up to H2_FEED_REQUESTS_MAX requests and H2_FEED_BYTES_MAX, and returns
 * how many. Drain the output before feeding the rest. An error in the bytes causes output (GOAWAY)
 * and h2_conn_finished. */
size_t h2_conn_feed(struct h2_conn *conn, struct slice bytes, int64_t now_us);
/* Limits h2_conn_feed to this many requests from now on: 1 to H2_FEED_REQUESTS_MAX. */
void h2_conn_limit_feed(struct h2_conn *conn, uint32_t requests_max);
/* Returns the number of open requests. */
uint32_t h2_conn_stream_count(const struct h2_conn *conn);
/* Writes at most `size` bytes of output (at least H2_DRAIN_BYTES_MIN) and returns how many; 0 if
 * there are none for now. */
size_t h2_conn_drain(struct h2_conn *conn, uint8_t *to, size_t size);
/* Checks deadlines; call it several times a second. */
void h2_conn_tick(struct h2_conn *conn, int64_t now_us);
/* Starts a graceful shutdown: GOAWAY(2^31-1), a ping's round trip or H2_SHUTDOWN_NOTICE_US, then
 * GOAWAY(last stream). Open streams continue. */
void h2_conn_shutdown(struct h2_conn *conn, int64_t now_us);
/* Returns whether the connection was ended with ENHANCE_YOUR_CALM. */
bool h2_conn_rate_limited(const struct h2_conn *conn);
/* Returns the time since which no request has been open; INT64_MAX while one is open. */
int64_t h2_conn_idle_since_us(const struct h2_conn *conn);
/* Returns whether nothing remains to be read or written, so that the connection may be closed. */
bool h2_conn_finished(const struct h2_conn *conn);
/* Closes all streams (on_close) and frees the connection. Accepts NULL. */
void h2_conn_free(struct h2_conn *conn);

void h2_stream_set_user(struct h2_stream *stream, void *user);
void *h2_stream_user(const struct h2_stream *stream);
/* Changes each time the stream's memory is reused: keep it beside a stored stream pointer. */
uint32_t h2_stream_generation(const struct h2_stream *stream);
/* Returns whether the request's fields exceed H2_HEADER_LIST_BYTES_MAX, so that it must be
 * refused. */
bool h2_stream_is_over_limit(const struct h2_stream *stream);
/* Returns whether the request is complete. */
bool h2_stream_request_ended(const struct h2_stream *stream);
/* Starts the response. Memory that the fields point to must stay valid until on_close. Without a
 * body the response ends here; if the request has not ended yet, RST_STREAM(NO_ERROR) follows. */
void h2_stream_respond(struct h2_stream *stream, const struct h2_field *fields, size_t count,
                       bool body);
/* Responds to a request that the layer above does not serve, with fields and a text (possibly
 * empty) that both stay valid until on_close. The rest of the request is read and ignored for
 * H2_TEXT_LINGER_US, then the stream is reset with NO_ERROR. Only on_close is called afterwards. */
void h2_stream_respond_text(struct h2_stream *stream, const struct h2_field *fields, size_t count,
                            struct slice text);
/* Call before h2_stream_respond, if the response is complete but the request may not be: its rest is
 * read and ignored for H2_TEXT_LINGER_US, in place of the reset. No more on_data and on_request_end
 * are called. */
void h2_stream_linger(struct h2_stream *stream);
/* Sends trailers. May be called only inside body_end; the fields must stay valid until on_close. */
void h2_stream_send_trailers(struct h2_stream *stream, const struct h2_field *fields, size_t count);
/* Reports that more of the body is ready, or its end. */
void h2_stream_resume(struct h2_stream *stream);
/* Requests on_drained. */
void h2_stream_want_drained(struct h2_stream *stream);
/* Returns whether the peer's window blocks the stream. */
bool h2_stream_blocked(const struct h2_stream *stream);
/* Returns the window for this many bytes of on_data to the peer. */
void h2_stream_consume(struct h2_stream *stream, size_t bytes);
void h2_stream_reset(struct h2_stream *stream, enum h2_code code);

#endif
