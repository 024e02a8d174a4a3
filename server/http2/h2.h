/*
 * h2.h: the server side of HTTP/2 (RFC 9113) without I/O: bytes in, bytes out, and events to the
 * layer above. It knows nghttp2, no socket, no loop and no clock: whoever feeds it says what time it
 * is. What a request means is not its business.
 *
 * Everything runs on one thread. Handlers are called inside h2_conn_feed, h2_conn_drain and
 * h2_conn_tick; from them, and from anywhere else, the h2_stream_* functions may be called, but
 * never h2_conn_feed, _drain, _tick or _free.
 */
#ifndef ERRATA_SERVER_HTTP2_H2_H
#define ERRATA_SERVER_HTTP2_H2_H

#include "store/base/err.h"
#include "store/base/slice.h"

/* Open requests of one connection; more are refused with REFUSED_STREAM, and clients wait. */
#define H2_STREAMS_MAX 128
/* What a peer may send of one request before somebody consumes it. */
#define H2_STREAM_WINDOW_BYTES (256u * 1024)
/* The same for all requests of a connection. */
#define H2_CONNECTION_WINDOW_BYTES (1024u * 1024)
/* Names and values of one request, with 32 bytes a field (RFC 9113, 6.5.2). */
#define H2_HEADER_LIST_BYTES_MAX (16u * 1024)
/* Fields of one answer's header or trailer block. */
#define H2_FIELDS_MAX 40
/* CONTINUATION frames of one header block: 8 x 16 KiB is above any honest header list. */
#define H2_CONTINUATIONS_MAX 8
/* Requests taken by one h2_conn_feed, and bytes. Their answers are drained before the next are taken: so
 * they are still in the processor's caches when they are sent, and their memory does for those that
 * follow. And whoever feeds gets to look at the time, and at others. */
#define H2_FEED_REQUESTS_MAX 16
#define H2_FEED_BYTES_MAX ((size_t)16 * 1024)
/* A header list is counted up to here, or to so many times the bytes of its block; a longer one ends the
 * connection, since each byte of it may expand to thousands (HPACK's references). Huffman's code makes less
 * than twice as much of a text: so a caller with too much metadata gets an answer. */
#define H2_HEADER_LIST_BYTES_COUNTED (4 * H2_HEADER_LIST_BYTES_MAX)
#define H2_HEADER_LIST_TIMES_MAX 2
/* Entries of one SETTINGS frame, and acknowledgements that wait to be sent. */
#define H2_SETTINGS_MAX 16
#define H2_OUTBOUND_ACKS_MAX 100
/* RST_STREAM frames: received (every cancelled or timed-out call sends one), and, in a bucket of
 * their own, sent because of the peer's frames (CVE-2025-8671). Header lists above
 * H2_HEADER_LIST_BYTES_MAX count as such: each may cost what a hundred requests do. */
#define H2_RESETS_BURST 1000
#define H2_RESETS_PER_SECOND 200
/* Frames that carry nothing, or next to nothing: pings, DATA of fewer bytes than below, trailers,
 * PRIORITY, SETTINGS, WINDOW_UPDATE, unknown ones. */
#define H2_IDLE_FRAMES_BURST 1000
#define H2_IDLE_FRAMES_PER_SECOND 100
#define H2_SMALL_DATA_BYTES 64
/* What a frame that carries something earns back, for the updates that answer it. HEADERS of a request
 * do: a small message in a few frames costs nothing by that. */
#define H2_IDLE_FRAMES_EARNED 4
/* Frames sent with at least this many bytes earn too; smaller ones are what a dribbling peer gets. */
#define H2_EARNING_DATA_BYTES 1024
/* Pings that come sooner than this, without DATA or HEADERS sent between, are strikes. Clients are
 * told 10 s; the second below it forgives their timers. */
#define H2_PING_INTERVAL_US (9 * INT64_C(1000000))
#define H2_PING_STRIKES_MAX 2
/* First SETTINGS, and a header block from HEADERS to END_HEADERS. */
#define H2_SETTINGS_DEADLINE_US (10 * INT64_C(1000000))
#define H2_HEADER_BLOCK_DEADLINE_US (10 * INT64_C(1000000))
/* Any frame, from the first byte of its head to its last byte. Half as fast as a body must come at least:
 * what is slower, and in the middle of a frame, is a peer that is gone or stalls. */
#define H2_FRAME_DEADLINE_US (30 * INT64_C(1000000))
/* A connection without an open request is ended gracefully (GOAWAY with NO_ERROR) after so long; a client
 * connects again when it has something to ask. */
#define H2_IDLE_DEADLINE_US (600 * INT64_C(1000000))
/* Output that the peer's window holds back must move on by this much in this time. */
#define H2_BLOCKED_DEADLINE_US (60 * INT64_C(1000000))
#define H2_BLOCKED_PROGRESS_BYTES (16u * 1024)
/* Our own ping, sent when streams are open, and how long its answer may take. */
#define H2_KEEPALIVE_US (60 * INT64_C(1000000))
#define H2_KEEPALIVE_ANSWER_US (20 * INT64_C(1000000))
/* What is left of a request that was answered with h2_stream_respond_text is read for so long: a client
 * that is reset while it still sends gives up the answer too. Its window bounds what it can send. */
#define H2_TEXT_LINGER_US (2 * INT64_C(1000000))
/* Between the first GOAWAY and the second one, if no ping comes back before. */
#define H2_SHUTDOWN_NOTICE_US (1 * INT64_C(1000000))
/* Streams are looked at for deadlines this often. */
#define H2_TICK_US (1 * INT64_C(1000000))
/* Streams whose memory is kept for the next ones. */
#define H2_STREAM_POOL_MAX 4096

/* The least room that h2_conn_drain takes: a whole frame and its head. */
#define H2_DRAIN_BYTES_MIN (16u * 1024 + 9)

/* Error codes that the layer above uses: RFC 9113, 7. */
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

struct h2_shared; /* what the connections of one server share */
struct h2_conn;
struct h2_stream;

/* A header field; both borrowed. */
struct h2_field {
    struct slice name; /* lower case */
    struct slice value;
};

/* The layer above. `user` is the one given to h2_conn_new. */
struct h2_handlers {
    /* A request begins; its fields follow. The place for h2_stream_set_user. */
    void (*on_request)(void *user, struct h2_stream *stream);
    /* One field of the request, pseudo fields first; borrowed for the length of the call. Comes too for
     * fields above H2_HEADER_LIST_BYTES_MAX: h2_stream_is_over_limit is true then. */
    void (*on_field)(void *user, struct h2_stream *stream, struct slice name, struct slice value);
    /* The fields are whole. */
    void (*on_fields_end)(void *user, struct h2_stream *stream);
    /* Bytes of the body, borrowed. They count against the window until h2_stream_consume. */
    void (*on_data)(void *user, struct h2_stream *stream, struct slice bytes);
    /* The request is whole. */
    void (*on_request_end)(void *user, struct h2_stream *stream);
    /* How many bytes of the answer's body are ready, `max` at most; true in `ret_end` where nothing
     * follows them. 0 and not the end: h2_stream_resume tells when there is more. */
    size_t (*body_ready)(void *user, struct h2_stream *stream, size_t max, bool *ret_end);
    /* Copies the next `size` bytes of the body, which body_ready said were there. */
    void (*body_copy)(void *user, struct h2_stream *stream, uint8_t *to, size_t size);
    /* The body's end was read: the place for h2_stream_send_trailers. */
    void (*body_end)(void *user, struct h2_stream *stream);
    /* After h2_stream_want_drained, once, when what was ready has been taken out. */
    void (*on_drained)(void *user, struct h2_stream *stream);
    /* The stream is gone; not to be used after this. Comes for each on_request. */
    void (*on_close)(void *user, struct h2_stream *stream);
    /* Output waits, or the connection is finished, by something outside feed and drain. */
    void (*on_output)(void *user);
};

/* Numbers since start of all connections. */
struct h2_stats {
    uint64_t streams_refused; /* above H2_STREAMS_MAX */
    uint64_t connections_calmed; /* ended with ENHANCE_YOUR_CALM */
    uint64_t connections_idle; /* ended because they had no request for H2_IDLE_DEADLINE_US */
    uint64_t streams_live;
    uint64_t connections_live;
};

/* `handlers` outlives it. */
MUST_CHECK enum err h2_shared_new(const struct h2_handlers *handlers,
                                  struct h2_shared **ret_shared);
const struct h2_stats *h2_shared_stats(const struct h2_shared *shared);
/* No connection may live. Takes NULL. */
void h2_shared_free(struct h2_shared *shared);

/* A connection, from the first byte of the client's preface. */
MUST_CHECK enum err h2_conn_new(struct h2_shared *shared, void *user, int64_t now_us,
                                struct h2_conn **ret_conn);
/* Takes bytes from the peer, and gives how many: up to H2_FEED_REQUESTS_MAX requests, and
 * H2_FEED_BYTES_MAX. The rest is to be fed once output has been drained. What is wrong with the bytes becomes output (GOAWAY)
 * and h2_conn_finished. */
size_t h2_conn_feed(struct h2_conn *conn, struct slice bytes, int64_t now_us);
/* From now on h2_conn_feed takes so many requests at most: 1 to H2_FEED_REQUESTS_MAX. */
void h2_conn_limit_feed(struct h2_conn *conn, uint32_t requests_max);
/* Requests that are open. */
uint32_t h2_conn_stream_count(const struct h2_conn *conn);
/* Writes output, `size` bytes at most (H2_DRAIN_BYTES_MIN at least), and gives how many; 0 when there
 * is none for now. */
size_t h2_conn_drain(struct h2_conn *conn, uint8_t *to, size_t size);
/* Looks at deadlines; to be called some times a second. */
void h2_conn_tick(struct h2_conn *conn, int64_t now_us);
/* Starts a graceful end: GOAWAY(2^31-1), a ping's round trip or H2_SHUTDOWN_NOTICE_US, then
 * GOAWAY(last); open streams go on. */
void h2_conn_shutdown(struct h2_conn *conn, int64_t now_us);
/* It was ended with ENHANCE_YOUR_CALM. */
bool h2_conn_calmed(const struct h2_conn *conn);
/* Since when no request has been open; INT64_MAX while one is. */
int64_t h2_conn_idle_since_us(const struct h2_conn *conn);
/* Nothing is to be read or written any more: close. */
bool h2_conn_finished(const struct h2_conn *conn);
/* Closes all streams (on_close) and frees. Takes NULL. */
void h2_conn_free(struct h2_conn *conn);

void h2_stream_set_user(struct h2_stream *stream, void *user);
void *h2_stream_user(const struct h2_stream *stream);
/* Grows each time the stream's memory is used again: whoever keeps a stream keeps this beside it. */
uint32_t h2_stream_generation(const struct h2_stream *stream);
/* The request's fields are more than H2_HEADER_LIST_BYTES_MAX: it is to be refused. */
bool h2_stream_is_over_limit(const struct h2_stream *stream);
/* Starts the answer. What the fields point to stays valid until on_close. Without a body the
 * answer ends here; and if the request has not ended yet, RST_STREAM(NO_ERROR) follows the answer. */
void h2_stream_respond(struct h2_stream *stream, const struct h2_field *fields, size_t count,
                       bool body);
/* Answers a request that the layer above does not serve: fields and a text (it may be empty), which both
 * stay valid until on_close. The rest of the request is read and ignored for H2_TEXT_LINGER_US, then the
 * stream is reset with NO_ERROR. Only on_close follows. */
void h2_stream_respond_text(struct h2_stream *stream, const struct h2_field *fields, size_t count,
                            struct slice text);
/* Inside body_end alone; valid until on_close likewise. */
void h2_stream_send_trailers(struct h2_stream *stream, const struct h2_field *fields, size_t count);
/* More of the body is ready, or its end. */
void h2_stream_resume(struct h2_stream *stream);
/* Asks for on_drained. */
void h2_stream_want_drained(struct h2_stream *stream);
/* The peer's window lets nothing through. */
bool h2_stream_blocked(const struct h2_stream *stream);
/* Opens the window again by bytes that on_data brought. */
void h2_stream_consume(struct h2_stream *stream, size_t bytes);
void h2_stream_reset(struct h2_stream *stream, enum h2_code code);

#endif
