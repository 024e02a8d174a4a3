/*
 * h2_seen.h: records which of its latest streams the peer has opened and ended, by its frame headers.
 * nghttp2 forgets closed streams, and so cannot distinguish frames that the peer may still send for a
 * stream that we ended from those that it must not send for one that it ended itself (RFC 9113, 5.1).
 */
#ifndef ERRATA_SERVER_HTTP2_H2_SEEN_H
#define ERRATA_SERVER_HTTP2_H2_SEEN_H

#include "server/http2/h2.h"

/* Maximum streams that are remembered, ended or not: four times as many as can be open. Frames of
 * older ones are not judged. */
#define H2_SEEN_STREAMS (4 * H2_STREAMS_MAX)
#define H2_SEEN_WORDS (H2_SEEN_STREAMS / 64)

struct h2_seen {
    uint32_t last; /* the highest with HEADERS; 0: none */
    uint64_t opened[H2_SEEN_WORDS]; /* a stream's bit: half its number, modulo the array's size */
    uint64_t ended[H2_SEEN_WORDS];
};

/* Records a frame header; true if it opens a stream. */
bool h2_seen_opens(struct h2_seen *seen, uint8_t type, uint32_t stream);
/* Checks the same frame, after h2_seen_opens: returns NULL, or what is wrong with it, with the error code to use. */
const char *h2_seen_judge(struct h2_seen *seen, uint8_t type, uint8_t flags, uint32_t stream,
                          enum h2_code *ret_code);

#endif
