/*
 * peer.h: a scripted server for a session under test: nghttp2's server side, in memory. It answers
 * each request, once complete, as its script says, and hands bytes over in pieces of any size.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_PEER_H
#define ERRATA_TESTS_UNIT_CLIENT_PEER_H

#include "client/session.h"

#include <nghttp2/nghttp2.h>

#define PEER_FIELDS_MAX 12
#define PEER_BODY_BYTES_MAX 1000000

/* Name, value, name, value, ..., NULL. */
typedef const char *const *peer_fields;

/* What a peer does to its connection. */
enum peer_trouble {
    PEER_STAYS,
    PEER_HANGS_UP, /* closes it once the request is complete */
    PEER_FREEZES /* from the request's first bytes on reads and writes nothing, and keeps it open */
};

struct peer_script {
    peer_fields headers;
    struct slice body;
    peer_fields trailers; /* NULL: the stream ends with the body, or the headers */
    bool silent; /* never answers */
    bool early; /* answers before the request is complete, */
    size_t early_bytes; /* once so many bytes of it came */
    bool stops_reading; /* gives no window back but by peer_read */
    uint32_t reset; /* HTTP/2 error that answers the request; 0: none */
    bool leaves; /* says GOAWAY before it answers */
    enum peer_trouble trouble; /* of peer_serve, once there is a request */
    size_t window_bytes; /* that it opens at the start; 0: the default of HTTP/2 */
    uint32_t streams_max; /* that it takes at a time; 0: any number */
    int64_t keepalive_ms; /* of the session */
    int64_t keepalive_timeout_ms;
};

struct peer {
    struct client_session *session; /* under test */
    nghttp2_session *http2;
    struct peer_script script;
    size_t step; /* bytes that either side gets at a time */
    bool mute; /* what it has to say stays with it */
    size_t body_sent;
    int32_t answered_stream; /* the last one */
    char request_fields[4096]; /* `name: value` lines of the last request */
    size_t request_fields_bytes;
    uint8_t request[PEER_BODY_BYTES_MAX]; /* the first bytes of the last request */
    size_t request_bytes; /* all that came */
    bool request_ended;
    size_t unread_bytes; /* of a peer that stops reading */
    uint32_t reset_by_client; /* error of the last RST_STREAM that came */
    unsigned resets_by_client;
    unsigned requests; /* HEADERS that came */
    unsigned pings;
};

/* A peer and its session; freed by peer_free, which ends what is left. */
struct peer *peer_new(const struct peer_script *script, size_t step);
void peer_free(struct peer *peer);
/* Moves bytes both ways until neither side has any, and reports. */
void peer_pump(struct peer *peer);
/* What a peer that stops reading has not read yet, it reads now. */
void peer_read(struct peer *peer, int32_t stream_id);
/* Plays the server on a connected socket, in place of peer_pump, until the other side closes it, or the
 * script says so. The peer's own session stays unused. */
void peer_serve(struct peer *peer, int connection);
/* Sends GOAWAY: requests above `last_stream_id` were not taken. */
void peer_goaway(struct peer *peer, int32_t last_stream_id);

#endif
