/*
 * fuzz_http1.c: any bytes as requests of HTTP/1.1. Read whole and in pieces they are the same
 * events; what the parser lets pass keeps to its limits and holds nothing that another reader might
 * understand differently. The first byte picks the size of the pieces.
 */
#include "server/http1/http1_parser.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#define PIECE_BYTES_MAX 32
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_TIMES UINT64_C(0x100000001b3)

/* The parsed input as a hash (FNV-1a), independent of the pieces of a body. */
struct reading {
    struct http1_parser parser;
    uint64_t hash;
    size_t fields;
    bool ended; /* refused */
};

static void add(struct reading *reading, struct slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        reading->hash = (reading->hash ^ bytes.data[i]) * HASH_TIMES;
    }
}

static void check_line(struct slice line)
{
    for (size_t i = 0; i < line.size; i++) {
        ASSERT(line.data[i] >= ' ' || line.data[i] == '\t');
        ASSERT(line.data[i] != 0x7f);
    }
}

static void check_event(struct reading *reading, const struct http1_event *event)
{
    const struct http1_parser *parser = &reading->parser;

    switch (event->kind) {
    case HTTP1_LINE:
        ASSERT(event->name.size > 0 && event->name.size <= HTTP1_METHOD_BYTES_MAX);
        ASSERT(event->value.size > 0 && event->value.size <= HTTP1_LINE_BYTES_MAX);
        check_line(event->value);
        reading->fields = 0;
        break;
    case HTTP1_FIELD:
        reading->fields++;
        ASSERT(reading->fields <= HTTP1_FIELDS_MAX);
        ASSERT(event->name.size > 0);
        ASSERT(memchr(event->name.data, ' ', event->name.size) == NULL);
        ASSERT(!slice_equal(event->name, SLICE("content-length")));
        ASSERT(!slice_equal(event->name, SLICE("transfer-encoding")));
        check_line(event->value);
        break;
    case HTTP1_HEAD_END:
        ASSERT(parser->has_host);
        ASSERT(!(parser->chunked && parser->has_length));
        break;
    case HTTP1_BODY:
        ASSERT(event->value.size > 0);
        break;
    case HTTP1_REFUSED:
        ASSERT(http1_refusal_status(parser->refusal) >= 400);
        break;
    case HTTP1_END:
    case HTTP1_MORE:
        break;
    }
}

static void read_piece(struct reading *reading, struct slice piece)
{
    struct http1_event event = {.kind = HTTP1_END};

    while (event.kind != HTTP1_MORE && !reading->ended) {
        size_t taken = http1_parser_take(&reading->parser, piece, &event);
        uint8_t kind = (uint8_t)event.kind;

        ASSERT(taken <= piece.size);
        piece = slice_after(piece, taken);
        check_event(reading, &event);
        if (event.kind != HTTP1_MORE && event.kind != HTTP1_BODY) {
            add(reading, slice_of(&kind, 1));
        }
        add(reading, event.name);
        add(reading, event.value);
        reading->ended = event.kind == HTTP1_REFUSED;
    }
    ASSERT(piece.size == 0);
}

static uint64_t read_all(struct reading *reading, struct slice input, size_t piece_bytes)
{
    http1_parser_init(&reading->parser);
    reading->hash = HASH_START;
    reading->fields = 0;
    reading->ended = false;
    while (input.size > 0 && !reading->ended) {
        size_t step = piece_bytes < input.size ? piece_bytes : input.size;

        read_piece(reading, slice_of(input.data, step));
        input = slice_after(input, step);
    }
    return reading->hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading *whole = NULL;
    struct reading *pieces = NULL;
    struct slice input = {NULL, 0};

    if (size == 0) {
        return 0;
    }
    whole = malloc(sizeof(*whole));
    pieces = malloc(sizeof(*pieces));
    ASSERT(whole != NULL && pieces != NULL);
    input = slice_of(data + 1, size - 1);
    ASSERT(read_all(whole, input, size) ==
           read_all(pieces, input, 1 + (size_t)data[0] % PIECE_BYTES_MAX));
    ASSERT(whole->parser.refusal == pieces->parser.refusal);
    free(pieces);
    free(whole);
    return 0;
}
