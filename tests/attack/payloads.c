/*
 * payloads.c: protobuf written by hand (protobuf.dev/programming-guides/encoding): requests of the
 * contract that are small, or whole, and hard on who reads them.
 */
#include "tests/attack/attack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Tags: field number and wire type 2 (length), or 0 (varint). */
#define TAG_EVENT 0x0a /* CaptureFeedbackEventRequest.event */
#define TAG_EVENT_TYPE 0x20 /* FeedbackEvent.event_type */
#define TYPE_LINE_CORRECTED 3
#define DEPTH 10000
#define WIDE_BYTES ((size_t)4 << 20)
#define JSON_ITEMS 100000
/* Sizes of the decompressed message: compressible and incompressible bytes. */
#define INFLATED_BYTES ((size_t)16 << 20)
#define STUBBORN_BYTES ((size_t)180 << 10)
#define FIELD_UNKNOWN_A 14
#define FIELD_UNKNOWN_B 15

static void add_varint(struct bytes *bytes, uint64_t number)
{
    for (; number >= 128; number >>= 7) {
        bytes_add_byte(bytes, (uint8_t)(0x80 | (number & 0x7f)));
    }
    bytes_add_byte(bytes, (uint8_t)number);
}

static void add_field(struct bytes *bytes, uint8_t number, struct slice value)
{
    add_varint(bytes, (uint64_t)number << 3 | 2);
    add_varint(bytes, value.size);
    bytes_add(bytes, value);
}

struct bytes payload_capture(struct slice before_json)
{
    struct bytes event = {0};
    struct bytes request = {0};

    bytes_add_byte(&event, TAG_EVENT_TYPE);
    bytes_add_byte(&event, TYPE_LINE_CORRECTED);
    add_field(&event, 5, SLICE("line"));
    add_field(&event, 6, SLICE("flood"));
    add_field(&event, 9, SLICE("flooded-layout"));
    add_field(&event, 20, before_json);
    add_field(&event, 21, SLICE("{\"a\": 1}"));
    add_field(&request, 1, slice_of(event.data, event.size));
    free(event.data);
    return request;
}

/* Field 1 in field 1 in field 1: from the innermost out, each a little longer. */
struct bytes payload_deep(void)
{
    struct bytes inner = {0};

    for (int i = 0; i < DEPTH; i++) {
        struct bytes outer = {0};

        add_field(&outer, 1, slice_of(inner.data, inner.size));
        free(inner.data);
        inner = outer;
    }
    return inner;
}

/* BatchCapture's shape, and this method's too: `event` once more, empty. */
struct bytes payload_wide(void)
{
    struct bytes request = {0};

    while (request.size < WIDE_BYTES) {
        bytes_add(&request, SLICE("\x0a\0"));
    }
    return request;
}

/* Field 1000, a number, one after the other. */
struct bytes payload_unknown(void)
{
    struct bytes request = {0};

    while (request.size < WIDE_BYTES) {
        bytes_add(&request, SLICE("\xc0\x3e\x01"));
    }
    return request;
}

struct bytes payload_json_deep(void)
{
    struct bytes json = {0};
    struct bytes request;

    bytes_add(&json, SLICE("{\"a\":"));
    for (int i = 0; i < JSON_ITEMS; i++) {
        bytes_add_byte(&json, '[');
    }
    for (int i = 0; i < JSON_ITEMS; i++) {
        bytes_add_byte(&json, ']');
    }
    bytes_add_byte(&json, '}');
    request = payload_capture(slice_of(json.data, json.size));
    free(json.data);
    return request;
}

struct bytes payload_json_wide(void)
{
    struct bytes json = {0};
    struct bytes request;

    bytes_add_byte(&json, '{');
    for (unsigned i = 0; i < JSON_ITEMS; i++) {
        uint8_t name[4] = {(uint8_t)('a' + i % 26), (uint8_t)('a' + i / 26 % 26),
                           (uint8_t)('a' + i / 676 % 26), (uint8_t)('a' + i / 17576 % 26)};

        bytes_add_byte(&json, '"');
        bytes_add(&json, slice_of(name, sizeof(name)));
        bytes_add(&json, i + 1 < JSON_ITEMS ? SLICE("\":1,") : SLICE("\":1}"));
    }
    request = payload_capture(slice_of(json.data, json.size));
    free(json.data);
    return request;
}

struct bytes payload_gzip(struct slice plain)
{
    struct bytes packed = {0};
    z_stream stream = {0};
    uLong bound = 0;

    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        return packed;
    }
    bound = deflateBound(&stream, plain.size);
    packed.data = (uint8_t *)malloc(bound);
    if (packed.data != NULL) {
        stream.next_in = (Bytef *)(uintptr_t)plain.data;
        stream.avail_in = (uInt)plain.size;
        stream.next_out = packed.data;
        stream.avail_out = (uInt)bound;
        (void)deflate(&stream, Z_FINISH);
        packed.size = bound - stream.avail_out;
        packed.capacity = bound;
    }
    (void)deflateEnd(&stream);
    return packed;
}

struct bytes payload_inflating(void)
{
    struct bytes request = payload_capture(SLICE("{\"a\": 2}"));
    struct bytes packed = {0};
    uint8_t *content = (uint8_t *)calloc(1, INFLATED_BYTES);
    uint32_t number = 1;

    if (content == NULL) {
        return request;
    }
    for (size_t i = 0; i < STUBBORN_BYTES; i++) {
        number = number * 1664525 + 1013904223; /* Knuth's generator, so that all pieces differ */
        content[i] = (uint8_t)(number >> 24);
    }
    add_field(&request, FIELD_UNKNOWN_A, slice_of(content, STUBBORN_BYTES));
    memset(content, 0, STUBBORN_BYTES);
    add_field(&request, FIELD_UNKNOWN_B,
              slice_of(content, INFLATED_BYTES - request.size - STUBBORN_BYTES));
    free(content);
    packed = payload_gzip(slice_of(request.data, request.size));
    free(request.data);
    return packed;
}

struct bytes payload_upload(size_t content_bytes)
{
    struct bytes request = {0};
    uint8_t *content = (uint8_t *)calloc(1, content_bytes);

    add_field(&request, 1, SLICE("flood"));
    if (content != NULL) {
        add_field(&request, 3, slice_of(content, content_bytes));
        free(content);
    }
    return request;
}
