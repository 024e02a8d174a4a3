/*
 * h2_guard.c: frame heads counted as they arrive (RFC 9113, 4.1 has their shape).
 */
#include "server/http2/h2_guard.h"

#include "server/http2/h2.h"

#include <nghttp2/nghttp2.h>

void h2_bucket_init(struct h2_bucket *bucket, uint32_t burst, uint32_t per_second, int64_t now_us)
{
    *bucket = (struct h2_bucket){burst, per_second, burst, now_us};
}

bool h2_bucket_take(struct h2_bucket *bucket, int64_t now_us)
{
    int64_t earned = (now_us - bucket->refilled_us) * bucket->per_second / 1000000;

    if (earned > 0) {
        bucket->refilled_us += earned * 1000000 / bucket->per_second;
        h2_bucket_give(bucket, earned > bucket->burst ? bucket->burst : (uint32_t)earned);
    }
    if (bucket->tokens == 0) {
        return false;
    }
    bucket->tokens--;
    return true;
}

void h2_bucket_give(struct h2_bucket *bucket, uint32_t tokens)
{
    uint32_t room = bucket->burst - bucket->tokens;

    bucket->tokens += tokens < room ? tokens : room;
}

void h2_guard_init(struct h2_guard *guard, int64_t now_us)
{
    *guard = (struct h2_guard){.preface_bytes_left = sizeof(H2_PREFACE) - 1,
                               .header_block_since_us = INT64_MAX};
    h2_bucket_init(&guard->idle_frames, H2_IDLE_FRAMES_BURST, H2_IDLE_FRAMES_PER_SECOND, now_us);
    h2_bucket_init(&guard->resets, H2_RESETS_BURST, H2_RESETS_PER_SECOND, now_us);
}

/* A block of header fields is open from HEADERS to the frame with END_HEADERS. */
static void h2_guard_note_headers(struct h2_guard *guard, int64_t now_us)
{
    if ((guard->head[4] & NGHTTP2_FLAG_END_HEADERS) != 0) {
        guard->header_block_since_us = INT64_MAX;
    } else if (guard->header_block_since_us == INT64_MAX) {
        guard->header_block_since_us = now_us;
    }
}

static const char *h2_guard_judge(struct h2_guard *guard, int64_t now_us)
{
    uint8_t type = guard->head[3];

    if (type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION) {
        h2_guard_note_headers(guard, now_us);
        if (type == NGHTTP2_HEADERS) {
            h2_bucket_give(&guard->idle_frames, H2_IDLE_FRAMES_EARNED);
        }
        return NULL;
    }
    if (type == NGHTTP2_DATA && guard->payload_bytes_left > 0) {
        h2_bucket_give(&guard->idle_frames, H2_IDLE_FRAMES_EARNED);
        return NULL;
    }
    if (type == NGHTTP2_RST_STREAM) {
        return h2_bucket_take(&guard->resets, now_us) ? NULL : "too_many_resets";
    }
    guard->settings_seen = guard->settings_seen || type == NGHTTP2_SETTINGS;
    return h2_bucket_take(&guard->idle_frames, now_us) ? NULL : "too_many_idle_frames";
}

/* The frame's head is whole. */
static const char *h2_guard_take_head(struct h2_guard *guard, int64_t now_us)
{
    uint8_t type = guard->head[3];

    guard->head_bytes = 0;
    guard->payload_bytes_left =
        (uint32_t)guard->head[0] << 16 | (uint32_t)guard->head[1] << 8 | guard->head[2];
    guard->ends_request = (type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) &&
                          (guard->head[4] & NGHTTP2_FLAG_END_STREAM) != 0;
    return h2_guard_judge(guard, now_us);
}

/* Reads on within the preface, a payload or a head; gives how many bytes it took. */
static size_t h2_guard_step(struct h2_guard *guard, struct slice bytes)
{
    size_t step = 0;

    if (guard->preface_bytes_left > 0) {
        step = bytes.size < guard->preface_bytes_left ? bytes.size : guard->preface_bytes_left;
        guard->preface_bytes_left = (uint8_t)(guard->preface_bytes_left - step);
    } else if (guard->payload_bytes_left > 0) {
        step = bytes.size < guard->payload_bytes_left ? bytes.size : guard->payload_bytes_left;
        guard->payload_bytes_left -= (uint32_t)step;
    } else {
        step = H2_FRAME_HEAD_BYTES - guard->head_bytes;
        step = bytes.size < step ? bytes.size : step;
        memcpy(guard->head + guard->head_bytes, bytes.data, step);
        guard->head_bytes = (uint8_t)(guard->head_bytes + step);
    }
    return step;
}

const char *h2_guard_feed(struct h2_guard *guard, struct slice bytes, uint32_t requests_max,
                          int64_t now_us, size_t *ret_taken)
{
    const char *complaint = NULL;
    uint32_t requests = 0;
    size_t taken = 0;

    while (taken < bytes.size && complaint == NULL && requests < requests_max) {
        taken += h2_guard_step(guard, slice_after(bytes, taken));
        if (guard->head_bytes == H2_FRAME_HEAD_BYTES) {
            complaint = h2_guard_take_head(guard, now_us);
        }
        if (guard->ends_request && guard->payload_bytes_left == 0) {
            guard->ends_request = false;
            requests++;
        }
    }
    *ret_taken = taken;
    return complaint;
}
