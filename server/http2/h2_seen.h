/*
 * h2_seen.h: what the peer has done with its latest streams, by the heads of its frames alone: which
 * it has opened, and which it has ended. nghttp2 forgets streams that are over, and so can't tell what
 * a peer may still send of a stream that we ended from what no peer may send of one that it ended
 * itself (RFC 9113, 5.1).
 */
#ifndef ERRATA_SERVER_HTTP2_H2_SEEN_H
#define ERRATA_SERVER_HTTP2_H2_SEEN_H

#include "server/http2/h2.h"

/* Streams that are remembered, ended or not: four times as many as can be open. Of older ones nothing
 * is known, and nothing is said. */
#define H2_SEEN_STREAMS (4 * H2_STREAMS_MAX)
#define H2_SEEN_WORDS (H2_SEEN_STREAMS / 64)

struct h2_seen {
    uint32_t last; /* the highest that had HEADERS; 0: none */
    uint64_t opened[H2_SEEN_WORDS]; /* bit of a stream: its number by two, in turns */
    uint64_t ended[H2_SEEN_WORDS];
};

/* The head of a frame; true for one that opens a stream. */
bool h2_seen_opens(struct h2_seen *seen, uint8_t type, uint32_t stream);
/* The same frame, behind h2_seen_opens: NULL, or what is wrong with it, and by which code. */
const char *h2_seen_judge(struct h2_seen *seen, uint8_t type, uint8_t flags, uint32_t stream,
                          enum h2_code *ret_code);

#endif
