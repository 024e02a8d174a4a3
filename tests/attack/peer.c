/*
 * peer.c: frames of HTTP/2 written by hand and read as far as they matter (RFC 9113, 4.1 and 6), and
 * a request's fields in HPACK (RFC 7541).
 */
#include "store/base/bytes.h"
#include "tests/attack/attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_MAX 0x7fffffffu
/* Indices of HPACK's static table (RFC 7541, appendix A). */
#define STATIC_METHOD_POST 0x83
#define STATIC_SCHEME_HTTP 0x86
/* The newest entry of the dynamic table. */
#define DYNAMIC_FIRST 62

static const char *const target_paths[] = {
    [TARGET_EXAMPLES] = "/errata.v1.PromptService/GetExamples",
    [TARGET_CAPTURE] = "/errata.v1.FeedbackService/CaptureFeedbackEvent",
    [TARGET_LIST] = "/errata.v1.FeedbackService/ListFeedbackEvents",
    [TARGET_WATCH] = "/errata.v1.EventService/WatchEvents",
    [TARGET_UPLOAD] = "/errata.v1.LayoutService/IngestDocumentStream",
    [TARGET_HEALTH] = "/grpc.health.v1.Health/Check",
    [TARGET_REFLECTION] = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    [TARGET_NOWHERE] = "/errata.v1.FeedbackService/Nothing",
};

void bytes_add(struct bytes *bytes, struct slice more)
{
    if (bytes->capacity - bytes->size < more.size) {
        size_t capacity = (bytes->size + more.size) * 2 + 1024;
        uint8_t *data = (uint8_t *)realloc(bytes->data, capacity);

        if (data == NULL) {
            (void)fprintf(stderr, "attacker: no memory\n");
            abort();
        }
        bytes->data = data;
        bytes->capacity = capacity;
    }
    if (more.size > 0) {
        memcpy(bytes->data + bytes->size, more.data, more.size);
        bytes->size += more.size;
    }
}

void bytes_add_byte(struct bytes *bytes, uint8_t byte)
{
    bytes_add(bytes, slice_of(&byte, 1));
}

void peer_write(struct peer *peer, struct slice bytes)
{
    bytes_add(&peer->out, bytes);
}

void peer_frame(struct peer *peer, enum frame_type type, uint8_t flags, uint32_t stream,
                struct slice payload)
{
    uint8_t head[FRAME_HEAD_BYTES] = {(uint8_t)(payload.size >> 16), (uint8_t)(payload.size >> 8),
                                      (uint8_t)payload.size, (uint8_t)type, flags};

    bytes_put_be32(head + 5, stream);
    peer_write(peer, slice_of(head, sizeof(head)));
    peer_write(peer, payload);
    peer->frames++;
    peer->attack->counts.frames++;
}

void peer_setting(struct peer *peer, enum setting setting, uint32_t value)
{
    uint8_t entry[6] = {0, (uint8_t)setting};

    bytes_put_be32(entry + 2, value);
    peer_frame(peer, FRAME_SETTINGS, 0, 0, slice_of(entry, sizeof(entry)));
}

void peer_window(struct peer *peer, uint32_t stream, uint32_t by)
{
    uint8_t payload[4];

    bytes_put_be32(payload, by);
    peer_frame(peer, FRAME_WINDOW_UPDATE, 0, stream, slice_of(payload, sizeof(payload)));
}

void peer_reset(struct peer *peer, uint32_t stream)
{
    peer_frame(peer, FRAME_RST_STREAM, 0, stream, SLICE("\0\0\0\x8"));
}

void peer_greet(struct peer *peer)
{
    peer_write(peer, SLICE("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    peer_setting(peer, SETTING_INITIAL_WINDOW_SIZE, WINDOW_MAX);
    peer_window(peer, 0, WINDOW_MAX - 65535);
}

/* An integer with a prefix of 7 bits, no Huffman code: RFC 7541, 5.1. */
static void hpack_add_length(struct bytes *block, size_t length)
{
    if (length < 127) {
        bytes_add_byte(block, (uint8_t)length);
        return;
    }
    bytes_add_byte(block, 127);
    for (length -= 127; length >= 128; length >>= 7) {
        bytes_add_byte(block, (uint8_t)(0x80 | (length & 0x7f)));
    }
    bytes_add_byte(block, (uint8_t)length);
}

void hpack_add(struct bytes *block, bool keep, const char *name, struct slice value)
{
    struct slice text = slice_text(name);

    bytes_add_byte(block, keep ? 0x40 : 0);
    hpack_add_length(block, text.size);
    bytes_add(block, text);
    hpack_add_length(block, value.size);
    bytes_add(block, value);
}

/* The usual fields: written out once and kept in the server's table, a byte each after that. */
static void add_usual_fields(struct peer *peer, struct bytes *block, enum target target)
{
    bool token = peer->attack->authorization[0] != '\0';
    uint8_t count = token ? 5 : 4;

    bytes_add_byte(block, STATIC_METHOD_POST);
    bytes_add_byte(block, STATIC_SCHEME_HTTP);
    if (peer->primed) {
        for (uint8_t i = 0; i < count; i++) {
            bytes_add_byte(block, (uint8_t)(0x80 | (DYNAMIC_FIRST + count - 1 - i)));
        }
        return;
    }
    hpack_add(block, true, ":path", slice_text(target_paths[target]));
    hpack_add(block, true, ":authority", SLICE("a"));
    hpack_add(block, true, "content-type", SLICE("application/grpc"));
    hpack_add(block, true, "te", SLICE("trailers"));
    if (token) {
        hpack_add(block, true, "authorization", slice_text(peer->attack->authorization));
    }
    peer->primed = true;
}

uint32_t peer_request(struct peer *peer, enum target target, uint8_t flags, struct slice extra)
{
    struct bytes block = {0};
    uint32_t stream = peer->next_stream;
    enum frame_type type = FRAME_HEADERS;
    struct slice rest;

    peer->next_stream += 2;
    peer->attack->counts.requests++;
    add_usual_fields(peer, &block, target);
    bytes_add(&block, extra);
    rest = slice_of(block.data, block.size);
    while (rest.size > FRAME_BYTES_MAX) {
        peer_frame(peer, type, flags & FLAG_END_STREAM, stream,
                   slice_of(rest.data, FRAME_BYTES_MAX));
        rest = slice_after(rest, FRAME_BYTES_MAX);
        type = FRAME_CONTINUATION;
        flags &= (uint8_t)~FLAG_END_STREAM;
    }
    peer_frame(peer, type, flags, stream, rest);
    free(block.data);
    return stream;
}

void peer_message(struct peer *peer, uint32_t stream, bool compressed, struct slice message,
                  uint8_t flags)
{
    struct bytes framed = {0};
    uint8_t prefix[5] = {compressed};
    struct slice rest;

    bytes_put_be32(prefix + 1, (uint32_t)message.size);
    bytes_add(&framed, slice_of(prefix, sizeof(prefix)));
    bytes_add(&framed, message);
    rest = slice_of(framed.data, framed.size);
    while (rest.size > FRAME_BYTES_MAX) {
        peer_frame(peer, FRAME_DATA, 0, stream, slice_of(rest.data, FRAME_BYTES_MAX));
        rest = slice_after(rest, FRAME_BYTES_MAX);
    }
    peer_frame(peer, FRAME_DATA, flags, stream, rest);
    free(framed.data);
}

void peer_call(struct peer *peer, enum target target, struct slice message)
{
    uint32_t stream = peer_request(peer, target, FLAG_END_HEADERS, slice_of(NULL, 0));

    peer_message(peer, stream, false, message, FLAG_END_STREAM);
}

/* Records the server's message to peers that it refuses. */
static void note_farewell(struct peer *peer, uint32_t code, const uint8_t *text, size_t size)
{
    struct attack_counts *counts = &peer->attack->counts;
    struct farewell *found = NULL;
    int64_t after_us = peer->attack->now_us - peer->opened_us;
    char copy[sizeof(found->text)] = "";

    memcpy(copy, text, size < sizeof(copy) ? size : sizeof(copy) - 1);
    for (uint32_t i = 0; i < counts->farewell_count && found == NULL; i++) {
        struct farewell *at = &counts->farewells[i];

        found = at->code == code && strcmp(at->text, copy) == 0 ? at : NULL;
    }
    if (found == NULL && counts->farewell_count < ATTACK_FAREWELLS_MAX) {
        found = &counts->farewells[counts->farewell_count++];
        *found = (struct farewell){.code = code, .after_us_min = INT64_MAX};
        memcpy(found->text, copy, sizeof(copy));
    }
    if (found == NULL) {
        return;
    }
    found->count++;
    found->after_us_min = after_us < found->after_us_min ? after_us : found->after_us_min;
    found->after_us_max = after_us > found->after_us_max ? after_us : found->after_us_max;
    found->frames_max = peer->frames > found->frames_max ? peer->frames : found->frames_max;
}

/* A frame is complete; only the beginning of its payload is kept. */
static void take_frame(struct peer *peer)
{
    struct attack_counts *counts = &peer->attack->counts;
    size_t size = peer->payload_bytes < ATTACK_SEEN_BYTES ? peer->payload_bytes : ATTACK_SEEN_BYTES;

    switch ((enum frame_type)peer->head[3]) {
    case FRAME_HEADERS:
        counts->answers++;
        break;
    case FRAME_DATA:
        counts->data_bytes += peer->payload_bytes;
        break;
    case FRAME_RST_STREAM:
        if (size >= 4) {
            counts->resets[bytes_get_be32(peer->seen) % ATTACK_CODES_MAX]++;
        }
        break;
    case FRAME_PING:
        if ((peer->head[4] & FLAG_ACK) == 0 && peer->out.size == peer->sent) {
            peer_frame(peer, FRAME_PING, FLAG_ACK, 0, slice_of(peer->seen, 8));
        }
        break;
    case FRAME_GOAWAY:
        if (size >= 8) {
            peer->reported = true;
            note_farewell(peer, bytes_get_be32(peer->seen + 4), peer->seen + 8, size - 8);
        }
        break;
    case FRAME_SETTINGS:
    case FRAME_PRIORITY:
    case FRAME_WINDOW_UPDATE:
    case FRAME_CONTINUATION:
    case FRAME_UNKNOWN:
        break;
    }
}

void peer_read_frames(struct peer *peer, struct slice bytes)
{
    while (bytes.size > 0) {
        size_t step = FRAME_HEAD_BYTES - peer->head_bytes;
        size_t length = 0;

        if (step > 0) {
            step = bytes.size < step ? bytes.size : step;
            memcpy(peer->head + peer->head_bytes, bytes.data, step);
            peer->head_bytes += step;
            peer->payload_bytes = 0;
            bytes = slice_after(bytes, step);
        }
        if (peer->head_bytes < FRAME_HEAD_BYTES) {
            return;
        }
        length = (size_t)peer->head[0] << 16 | (size_t)peer->head[1] << 8 | peer->head[2];
        step = length - peer->payload_bytes;
        step = bytes.size < step ? bytes.size : step;
        if (peer->payload_bytes < ATTACK_SEEN_BYTES && step > 0) {
            size_t room = ATTACK_SEEN_BYTES - peer->payload_bytes;

            memcpy(peer->seen + peer->payload_bytes, bytes.data, step < room ? step : room);
        }
        peer->payload_bytes += step;
        bytes = slice_after(bytes, step);
        if (peer->payload_bytes == length) {
            take_frame(peer);
            peer->head_bytes = 0;
        }
    }
}
