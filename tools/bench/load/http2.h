/*
 * http2.h: the frames of HTTP/2 (RFC 9113, sections 4, 6 and 7) that a client of gRPC sends and
 * receives.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_HTTP2_H
#define ERRATA_TOOLS_BENCH_LOAD_HTTP2_H

#include "store/base/bytes.h"
#include "store/base/slice.h"

#include <stddef.h>

#define HTTP2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define HTTP2_FRAME_HEAD_BYTES 9
/* The largest payload without a setting of the peer. */
#define HTTP2_FRAME_BYTES_MAX 16384
#define HTTP2_WINDOW_START 65535
#define HTTP2_WINDOW_MAX 0x7fffffff
#define HTTP2_STREAM_MAX 0x7fffffff

enum http2_type {
    HTTP2_DATA = 0,
    HTTP2_HEADERS = 1,
    HTTP2_PRIORITY = 2,
    HTTP2_RST_STREAM = 3,
    HTTP2_SETTINGS = 4,
    HTTP2_PUSH_PROMISE = 5,
    HTTP2_PING = 6,
    HTTP2_GOAWAY = 7,
    HTTP2_WINDOW_UPDATE = 8,
    HTTP2_CONTINUATION = 9
};

#define HTTP2_END_STREAM 0x1
#define HTTP2_ACK 0x1
#define HTTP2_END_HEADERS 0x4
#define HTTP2_PADDED 0x8
#define HTTP2_PRIORITY_FLAG 0x20

enum http2_setting {
    HTTP2_HEADER_TABLE_SIZE = 1,
    HTTP2_ENABLE_PUSH = 2,
    HTTP2_MAX_CONCURRENT_STREAMS = 3,
    HTTP2_INITIAL_WINDOW_SIZE = 4,
    HTTP2_MAX_FRAME_SIZE = 5,
    HTTP2_MAX_HEADER_LIST_SIZE = 6
};

#define HTTP2_NO_ERROR 0
#define HTTP2_CANCEL 8

struct http2_head {
    uint32_t size; /* size of the payload */
    uint8_t type;
    uint8_t flags;
    uint32_t stream;
};

static inline struct http2_head http2_get_head(const uint8_t *bytes)
{
    return (struct http2_head){.size = bytes_get_be32(bytes) >> 8,
                               .type = bytes[3],
                               .flags = bytes[4],
                               .stream = bytes_get_be32(bytes + 5) & HTTP2_STREAM_MAX};
}

static inline void http2_put_head(uint8_t *bytes, struct http2_head head)
{
    bytes_put_be32(bytes, head.size << 8 | head.type);
    bytes[4] = head.flags;
    bytes_put_be32(bytes + 5, head.stream);
}

#endif
