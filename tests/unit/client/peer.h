/*
 * peer.h: a scripted server for a session under test: nghttp2's server side, in memory. It answers
 * each request, once complete, as its script says, and transfers bytes in pieces of any size.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_PEER_H
#define ERRATA_TESTS_UNIT_CLIENT_PEER_H

#include "client/session.h"

#include <nghttp2/nghttp2.h>

#define PEER_FIELDS_MAX 12
#define PEER_BODY_BYTES_MAX 1000000

/* Name, value, name, value, ..., NULL. */
typedef const char *const *peer_fields;

/* Fault of the peer's connection. */
enum peer_trouble {
    PEER_STAYS,
    PEER_HANGS_UP, /* closes the connection after the complete request */
    PEER_FREEZES /* stops reading and writing after the request's first bytes, and keeps the connection open */
};

struct peer_script {
    peer_fields headers;
    struct slice body;
    peer_fields trailers; /* NULL: the stream ends with the body, or the headers */
    bool silent; /* never answers */
    bool early; /* answers before the request is complete, */
    size_t early_bytes; /* after this number of bytes */
    bool stops_reading; /* updates no window except by peer_read */
    uint32_t reset; /* HTTP/2 error that resets the request; 0: none */
    bool leaves; /* sends GOAWAY before it answers */
    enum peer_trouble trouble; /* fault of peer_serve, after it has received a request */
    size_t window_bytes; /* initial window size; 0: default of HTTP/2 */
    uint32_t streams_max; /* maximum concurrent streams; 0: unlimited */
    int64_t keepalive_ms; /* keepalive of the session */
    int64_t keepalive_timeout_ms;
};

struct peer {
    struct client_session *session; /* session under test */
    nghttp2_session *http2;
    struct peer_script script;
    size_t step; /* bytes that either side gets at a time */
    bool mute; /* its output is not delivered */
    size_t body_sent;
    int32_t answered_stream; /* the last request's stream */
    char request_fields[4096]; /* `name: value` lines of the last request */
    size_t request_fields_bytes;
    uint8_t request[PEER_BODY_BYTES_MAX]; /* the first bytes of the last request */
    size_t request_bytes; /* number of received bytes */
    bool request_ended;
    size_t unread_bytes; /* unread bytes of a peer that stops reading */
    uint32_t reset_by_client; /* error of the last received RST_STREAM */
    unsigned resets_by_client;
    unsigned requests; /* number of received HEADERS */
    unsigned pings;
};

/* A peer and its session; freed by peer_free, which ends remaining calls. */
struct peer *peer_new(const struct peer_script *script, size_t step);
void peer_free(struct peer *peer);
/* Moves bytes both ways until neither side has any, and reports. */
void peer_pump(struct peer *peer);
/* Reads the bytes that the peer has not read yet. */
void peer_read(struct peer *peer, int32_t stream_id);
/* Plays the server on a connected socket, in place of peer_pump, until the other side closes it, or the
 * script ends it. The peer's own session stays unused. */
void peer_serve(struct peer *peer, int connection);
/* Sends GOAWAY: requests above `last_stream_id` were not processed. */
void peer_goaway(struct peer *peer, int32_t last_stream_id);

#endif
