/*
 * h2_guard.h: limits that nghttp2 does not have. Reads frame headers ahead of nghttp2, over the
 * same bytes, and charges frames to token buckets. It checks the number of frames, and whether
 * their streams may receive any (h2_seen.h); nghttp2 interprets them.
 */
#ifndef ERRATA_SERVER_HTTP2_H2_GUARD_H
#define ERRATA_SERVER_HTTP2_H2_GUARD_H

#include "server/http2/h2_seen.h"

#define H2_FRAME_HEAD_BYTES 9

/* A token bucket: `burst` at once, then a rate per second. */
struct h2_bucket {
    uint32_t burst;
    uint32_t per_second;
    uint32_t tokens; /* remaining tokens, at most `burst` */
    int64_t refilled_us;
};

void h2_bucket_init(struct h2_bucket *bucket, uint32_t burst, uint32_t per_second, int64_t now_us);
/* Takes one; false if none is left. */
bool h2_bucket_take(struct h2_bucket *bucket, int64_t now_us);
void h2_bucket_give(struct h2_bucket *bucket, uint32_t tokens);

struct h2_guard {
    uint8_t head[H2_FRAME_HEAD_BYTES]; /* header of the current frame */
    uint8_t head_bytes; /* received bytes of it */
    uint8_t preface_bytes_left;
    bool settings_seen;
    bool in_frame; /* the header was read, the payload not completely */
    bool ends_block; /* the current frame has END_HEADERS */
    uint8_t continuations; /* number of CONTINUATION frames of the current header block */
    uint8_t events; /* starts and ends of requests in the current frame */
    uint32_t payload_bytes_left;
    struct h2_seen seen;
    enum h2_code complaint_code; /* code of the complaint, if there is one */
    int64_t header_block_since_us; /* start of the open header block; INT64_MAX: none */
    int64_t frame_since_us; /* start of the incomplete frame; INT64_MAX: none */
    struct h2_bucket idle_frames;
    struct h2_bucket resets;
};

void h2_guard_init(struct h2_guard *guard, int64_t now_us);
/* Reads the frame headers in `bytes`, up to `events_max` beginnings and ends of requests, and
 * writes the number of bytes read to `ret_taken`. Returns NULL, or a complaint about excess or a
 * protocol error; its code is in `complaint_code`. */
const char *h2_guard_feed(struct h2_guard *guard, struct slice bytes, uint32_t events_max,
                          int64_t now_us, size_t *ret_taken);

#endif
