/*
 * h2_seen.c: two bits for each of the latest streams.
 */
#include "server/http2/h2_seen.h"

#include <nghttp2/nghttp2.h>

_Static_assert(H2_SEEN_STREAMS % 64 == 0, "whole words");

static uint32_t h2_seen_index(uint32_t stream)
{
    return stream / 2 % H2_SEEN_STREAMS;
}

static bool h2_seen_has(const uint64_t *bits, uint32_t stream)
{
    uint32_t index = h2_seen_index(stream);

    return (bits[index / 64] >> index % 64 & 1) != 0;
}

static void h2_seen_set(uint64_t *bits, uint32_t stream, bool value)
{
    uint32_t index = h2_seen_index(stream);
    uint64_t bit = UINT64_C(1) << index % 64;

    bits[index / 64] = value ? bits[index / 64] | bit : bits[index / 64] & ~bit;
}

/* Returns whether there are bits for the stream: it is one of the latest. Even numbers are not a
 * client's. */
static bool h2_seen_knows(const struct h2_seen *seen, uint32_t stream)
{
    return (stream & 1) != 0 && stream <= seen->last && (seen->last - stream) / 2 < H2_SEEN_STREAMS;
}

/* Clears the bits of the streams skipped between the last one and this one: they belong to older
 * streams. */
static void h2_seen_advance(struct h2_seen *seen, uint32_t stream)
{
    uint32_t steps = (stream - seen->last + 1) / 2;

    steps = steps < H2_SEEN_STREAMS ? steps : H2_SEEN_STREAMS;
    for (uint32_t i = 0; i < steps; i++) {
        h2_seen_set(seen->opened, stream - 2 * i, false);
        h2_seen_set(seen->ended, stream - 2 * i, false);
    }
    seen->last = stream;
    h2_seen_set(seen->opened, stream, true);
}

bool h2_seen_opens(struct h2_seen *seen, uint8_t type, uint32_t stream)
{
    if (type != NGHTTP2_HEADERS || (stream & 1) == 0 || stream <= seen->last) {
        return false;
    }
    h2_seen_advance(seen, stream);
    return true;
}

static const char *h2_seen_judge_content(const struct h2_seen *seen, uint8_t type, uint32_t stream,
                                         enum h2_code *ret_code)
{
    if (h2_seen_has(seen->ended, stream)) {
        *ret_code = H2_STREAM_CLOSED;
        return "frame_of_an_ended_stream";
    }
    if (!h2_seen_has(seen->opened, stream)) {
        *ret_code = type == NGHTTP2_HEADERS ? H2_PROTOCOL_ERROR : H2_STREAM_CLOSED;
        return "stream_was_passed_over";
    }
    return NULL;
}

const char *h2_seen_judge(struct h2_seen *seen, uint8_t type, uint8_t flags, uint32_t stream,
                          enum h2_code *ret_code)
{
    bool has_content = type == NGHTTP2_DATA || type == NGHTTP2_HEADERS;
    const char *complaint = NULL;

    if (type == NGHTTP2_PRIORITY && stream == 0) {
        *ret_code = H2_PROTOCOL_ERROR;
        return "priority_of_no_stream"; /* nghttp2 ignores such frames */
    }
    if (!h2_seen_knows(seen, stream)) {
        return NULL;
    }
    if (has_content) {
        complaint = h2_seen_judge_content(seen, type, stream, ret_code);
    }
    if (type == NGHTTP2_RST_STREAM || (has_content && (flags & NGHTTP2_FLAG_END_STREAM) != 0)) {
        h2_seen_set(seen->ended, stream, true);
    }
    return complaint;
}
