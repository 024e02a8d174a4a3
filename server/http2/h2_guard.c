/*
 * h2_guard.c: counts frame headers as they arrive (their layout: RFC 9113, 4.1).
 */
#include "server/http2/h2_guard.h"

#include "server/http2/h2.h"
#include "store/base/bytes.h"

#include <nghttp2/nghttp2.h>

/* The length of a padding, and its own byte: RFC 9113, 6.1. */
#define H2_PADDING_BYTES_MAX 256

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
                               .header_block_since_us = INT64_MAX,
                               .frame_since_us = INT64_MAX};
    h2_bucket_init(&guard->idle_frames, H2_IDLE_FRAMES_BURST, H2_IDLE_FRAMES_PER_SECOND, now_us);
    h2_bucket_init(&guard->resets, H2_RESETS_BURST, H2_RESETS_PER_SECOND, now_us);
}

/* Returns the complaint about too many idle frames, by the type of the last one. */
static const char *h2_guard_complaint(uint8_t type)
{
    switch (type) {
    case NGHTTP2_DATA:
        return "too_many_small_data_frames";
    case NGHTTP2_HEADERS:
        return "too_many_trailers";
    case NGHTTP2_PRIORITY:
        return "too_many_priority_frames";
    case NGHTTP2_SETTINGS:
        return "too_many_settings";
    case NGHTTP2_PING:
        return "too_many_pings";
    case NGHTTP2_WINDOW_UPDATE:
        return "too_many_window_updates";
    default:
        return "too_many_unknown_frames";
    }
}

/* Returns whether the frame is charged to the bucket of idle frames instead of filling it. The
 * padding length follows the frame header; padding is at most 256 bytes. */
static bool h2_guard_is_idle(struct h2_guard *guard, uint32_t stream)
{
    uint32_t padding = (guard->head[4] & NGHTTP2_FLAG_PADDED) != 0 ? H2_PADDING_BYTES_MAX : 0;

    switch (guard->head[3]) {
    case NGHTTP2_HEADERS:
        /* Other HEADERS frames are trailers, which are ignored, or belong to a closed stream. */
        guard->events = h2_seen_opens(&guard->seen, NGHTTP2_HEADERS, stream) ? 1 : 0;
        return guard->events == 0;
    case NGHTTP2_DATA:
        return guard->payload_bytes_left < H2_SMALL_DATA_BYTES + padding;
    default:
        return true;
    }
}

static const char *h2_guard_count(struct h2_guard *guard, uint32_t stream, int64_t now_us)
{
    uint8_t type = guard->head[3];

    if (type == NGHTTP2_CONTINUATION) {
        guard->continuations++;
        return guard->continuations <= H2_CONTINUATIONS_MAX ? NULL : "too_many_continuations";
    }
    guard->continuations = 0; /* no other frame may interrupt a block */
    if (type == NGHTTP2_RST_STREAM) {
        return h2_bucket_take(&guard->resets, now_us) ? NULL : "too_many_resets";
    }
    if (h2_guard_is_idle(guard, stream)) {
        guard->settings_seen = guard->settings_seen || type == NGHTTP2_SETTINGS;
        return h2_bucket_take(&guard->idle_frames, now_us) ? NULL : h2_guard_complaint(type);
    }
    h2_bucket_give(&guard->idle_frames, H2_IDLE_FRAMES_EARNED);
    return NULL;
}

static const char *h2_guard_judge(struct h2_guard *guard, int64_t now_us)
{
    uint32_t stream = bytes_get_be32(guard->head + 5) & 0x7fffffffu;
    const char *complaint = h2_guard_count(guard, stream, now_us);

    guard->complaint_code = H2_ENHANCE_YOUR_CALM;
    if (complaint != NULL) {
        return complaint;
    }
    return h2_seen_judge(&guard->seen, guard->head[3], guard->head[4], stream,
                         &guard->complaint_code);
}

/* Handles a complete frame header. */
static const char *h2_guard_take_head(struct h2_guard *guard, int64_t now_us)
{
    uint8_t type = guard->head[3];
    uint8_t flags = guard->head[4];
    bool has_fields = type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION;
    const char *complaint = NULL;

    guard->head_bytes = 0;
    guard->in_frame = true;
    guard->events = 0;
    guard->payload_bytes_left =
        (uint32_t)guard->head[0] << 16 | (uint32_t)guard->head[1] << 8 | guard->head[2];
    guard->ends_block = has_fields && (flags & NGHTTP2_FLAG_END_HEADERS) != 0;
    if (has_fields && guard->header_block_since_us == INT64_MAX) {
        guard->header_block_since_us = now_us;
    }
    complaint = h2_guard_judge(guard, now_us);
    if ((type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) &&
        (flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        guard->events++;
    }
    return complaint;
}

/* Ends a frame; returns the number of events in it. */
static uint32_t h2_guard_end_frame(struct h2_guard *guard)
{
    guard->in_frame = false;
    guard->frame_since_us = INT64_MAX;
    if (guard->ends_block) {
        guard->header_block_since_us = INT64_MAX;
    }
    return guard->events;
}

/* Reads within the preface, a payload or a header; returns how many bytes it took. */
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

const char *h2_guard_feed(struct h2_guard *guard, struct slice bytes, uint32_t events_max,
                          int64_t now_us, size_t *ret_taken)
{
    const char *complaint = NULL;
    uint32_t events = 0;
    size_t taken = 0;

    while (taken < bytes.size && complaint == NULL && events < events_max) {
        taken += h2_guard_step(guard, slice_after(bytes, taken));
        if (guard->head_bytes > 0 && guard->frame_since_us == INT64_MAX) {
            guard->frame_since_us = now_us;
        }
        if (guard->head_bytes == H2_FRAME_HEAD_BYTES) {
            complaint = h2_guard_take_head(guard, now_us);
        }
        if (guard->in_frame && guard->payload_bytes_left == 0) {
            events += h2_guard_end_frame(guard);
        }
    }
    *ret_taken = taken;
    return complaint;
}
