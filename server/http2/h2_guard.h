/*
 * h2_guard.h: what nghttp2 does not limit. A reader of frame heads that runs ahead of nghttp2 over
 * the same bytes, and buckets that frames are taken from. It judges numbers of frames, and whether
 * their streams may have any (h2_seen.h): what they mean is nghttp2's.
 */
#ifndef ERRATA_SERVER_HTTP2_H2_GUARD_H
#define ERRATA_SERVER_HTTP2_H2_GUARD_H

#include "server/http2/h2_seen.h"

#define H2_FRAME_HEAD_BYTES 9

/* So many at once, so many a second. */
struct h2_bucket {
    uint32_t burst;
    uint32_t per_second;
    uint32_t tokens; /* left; at most `burst` */
    int64_t refilled_us;
};

void h2_bucket_init(struct h2_bucket *bucket, uint32_t burst, uint32_t per_second, int64_t now_us);
/* Takes one; false where none is left. */
bool h2_bucket_take(struct h2_bucket *bucket, int64_t now_us);
void h2_bucket_give(struct h2_bucket *bucket, uint32_t tokens);

struct h2_guard {
    uint8_t head[H2_FRAME_HEAD_BYTES]; /* of the frame that is being read */
    uint8_t head_bytes; /* of it, so far */
    uint8_t preface_bytes_left;
    bool settings_seen;
    bool in_frame; /* its head was read, and of its payload not all */
    bool ends_block; /* the frame that is being read has END_HEADERS */
    uint8_t continuations; /* of the header block that is being read, so far */
    uint8_t events; /* beginnings and ends of requests in it */
    uint32_t payload_bytes_left;
    struct h2_seen seen;
    enum h2_code complaint_code; /* of the complaint, where there is one */
    int64_t header_block_since_us; /* INT64_MAX: none is open */
    int64_t frame_since_us; /* a frame has begun and is not whole; INT64_MAX: none */
    struct h2_bucket idle_frames;
    struct h2_bucket resets;
};

void h2_guard_init(struct h2_guard *guard, int64_t now_us);
/* Reads the heads of the frames in `bytes`, up to `events_max` beginnings and ends of requests; how
 * many bytes that is goes to `ret_taken`. NULL, or what the peer did too much of or against the rules,
 * and its code in `complaint_code`. */
const char *h2_guard_feed(struct h2_guard *guard, struct slice bytes, uint32_t events_max,
                          int64_t now_us, size_t *ret_taken);

#endif
