/*
 * peer.h: a server for a connection under test, in memory: libnghttp2's server side, which checks
 * every frame. It answers requests on command, as its script says.
 */
#ifndef ERRATA_TESTS_UNIT_BENCH_LOAD_PEER_H
#define ERRATA_TESTS_UNIT_BENCH_LOAD_PEER_H

#include "store/base/slice.h"

#include <nghttp2/nghttp2.h>

#define PEER_PENDING_MAX 4096
#define PEER_OUT_BYTES (1 << 20)
#define PEER_FIELDS_BYTES 4096

struct peer_script {
    uint32_t streams_max; /* 0: unlimited */
    int64_t table_bytes; /* SETTINGS_HEADER_TABLE_SIZE; -1: default */
    uint32_t stream_window; /* 0: default */
    bool holds_windows; /* updates the connection window only in peer_open_windows */
    size_t padding; /* padding of HEADERS and DATA */
    size_t long_field_bytes; /* a field so long that a block needs CONTINUATION frames */
    const char *http_status; /* NULL: 200 */
    const char *status; /* grpc-status; NULL: 0, "": none */
    const char *message; /* grpc-message */
    bool trailers_only;
    size_t body_bytes; /* size of the response message */
    size_t body_lacks; /* number of bytes missing from the announced size */
    uint8_t body_flag; /* first byte of the message's prefix */
    uint32_t reset; /* RST_STREAM with this code instead of an answer; 0: none */
};

struct peer_request {
    int32_t stream;
    size_t sent; /* sent bytes of the answer's body */
    bool ended;
};

struct peer {
    nghttp2_session *session;
    struct peer_script script;
    struct peer_request
        requests[PEER_PENDING_MAX]; /* complete requests without an answer, oldest first */
    size_t pending;
    size_t first;
    uint8_t out[PEER_OUT_BYTES];
    size_t out_size;
    char fields[PEER_FIELDS_BYTES]; /* `name: value` lines of the last request */
    size_t fields_size;
    uint8_t body[65536]; /* the first bytes of the last request's body */
    size_t body_size; /* number of received bytes */
    size_t request_count;
    size_t reset_count; /* number of received RST_STREAM frames */
    size_t window_update_count;
};

void peer_open(struct peer *peer, const struct peer_script *script);
void peer_close(struct peer *peer);
/* Takes bytes of the client; fails the test if they are not HTTP/2. */
void peer_feed(struct peer *peer, struct slice bytes);
/* Answers the oldest `count` waiting requests; SIZE_MAX answers all. */
void peer_answer(struct peer *peer, size_t count);
/* Returns the peer's output, which must be taken completely. */
struct slice peer_take(struct peer *peer);
void peer_open_windows(struct peer *peer);
void peer_go_away(struct peer *peer, uint32_t error);
/* Answers the oldest request before it has ended. */
void peer_answer_early(struct peer *peer, int32_t stream);

#endif
