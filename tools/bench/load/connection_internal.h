/*
 * connection_internal.h: the shared part of the files of a connection: connection.c starts calls
 * and owns them, connection_read.c reads frames.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_CONNECTION_INTERNAL_H
#define ERRATA_TOOLS_BENCH_LOAD_CONNECTION_INTERNAL_H

#include "tools/bench/load/connection.h"
#include "tools/bench/load/http2.h"

#define PROBLEM_BYTES 160

/* A call in flight. */
struct call {
    struct call *next; /* next in its bucket, or in the list of free calls */
    struct call *next_unsent; /* next in the queue of bodies that wait for a window */
    uint32_t stream;
    uint32_t kind;
    uint64_t due_ns;
    uint64_t received; /* bytes of the answer's body */
    const uint8_t *body; /* unsent rest of the body; NULL if all is sent */
    size_t body_size;
    uint8_t *owned; /* start of a body that the call owns */
    int64_t window; /* send window of this stream */
    int32_t http_status; /* -1: not yet */
    int32_t grpc_status;
    uint8_t
        prefix[GRPC_PREFIX_BYTES]; /* received part of the prefix of the answer's first message */
};

/* The header block of a kind, once its bytes repeat. */
struct cached_block {
    uint8_t *bytes; /* owned; NULL: not yet */
    size_t size;
    uint32_t generation;
};

struct waiting_call {
    uint64_t due_ns;
    uint32_t kind;
};

struct waiting {
    struct waiting_call *ring; /* owned */
    size_t room; /* a power of two, or 0 */
    size_t first;
    size_t count;
};

struct connection {
    const struct connection_shared *shared;
    size_t index;
    bool ready;
    bool going_away;
    char problem[PROBLEM_BYTES];

    /* Out. */
    uint8_t *out; /* owned */
    size_t out_room;
    size_t out_start;
    size_t out_end;
    struct hpack hpack;
    struct hpack_field fields[LOAD_KINDS_MAX][HPACK_FIELDS_MAX];
    size_t field_count; /* the same for each kind, without the field that varies */
    struct cached_block blocks[LOAD_KINDS_MAX];
    int64_t window; /* send window of the connection */
    int64_t stream_window; /* initial send window of a stream */
    uint32_t frame_bytes_max;
    uint32_t streams_max;
    uint32_t next_stream;
    uint64_t key_count;

    /* Calls. */
    struct call **buckets; /* hash table by stream id; owned */
    size_t bucket_count; /* a power of two */
    size_t in_flight;
    struct call *free_calls;
    struct call *unsent_first;
    struct call *unsent_last;
    struct waiting waiting;

    /* In. */
    nghttp2_hd_inflater *inflater;
    uint8_t rest[HTTP2_FRAME_HEAD_BYTES + HTTP2_FRAME_BYTES_MAX]; /* an incomplete frame */
    size_t rest_size;
    uint32_t block_stream; /* stream of the header block being read; 0: none */
    bool block_ends_stream;
    uint32_t unacknowledged; /* bytes received since the last WINDOW_UPDATE */
    uint8_t message[CONNECTION_MESSAGE_BYTES_MAX]; /* grpc-message of the header block being read */
    size_t message_size;
};

/* Returns the place of the frame's payload of `size` bytes, to be written at once; NULL without
 * memory. */
uint8_t *connection_put_frame(struct connection *connection, struct http2_head head);
struct call *connection_find(struct connection *connection, uint32_t stream);
/* Removes the call from all lists, and reports its end to its owner. */
void connection_end(struct connection *connection, struct call *take_call, enum answer_wrong wrong,
                    uint64_t code);
/* Records why the connection ends, and returns ERR_PRECONDITION. */
enum err connection_fail(struct connection *connection, const char *format, ...) PRINTF_LIKE(2, 3);

/* Reads one whole frame. */
MUST_CHECK enum err connection_read_frame(struct connection *connection, const uint8_t *bytes);

#endif
