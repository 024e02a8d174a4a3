/*
 * gzip.c: see gzip.h; based on zlib's streams.
 */
#include "server/call/gzip.h"

#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* 15 bits of window; 16 more select gzip and no other format. */
#define GZIP_WINDOW_BITS (15 + 16)
#define GZIP_LEVEL 1
#define GZIP_MEMORY_LEVEL 8
/* The minimum initial room for inflating. */
#define GZIP_START_BYTES 4096
/* Bytes of the size of the inflated data, little-endian, at the stream's end (RFC 1952, 2.3.1). */
#define GZIP_STATED_BYTES 4

struct gzip_inflater {
    z_stream stream; /* must not be moved: zlib's state points to it */
    struct slice rest; /* remaining bytes of the message */
};

enum err gzip_inflater_new(struct gzip_inflater **ret_inflater)
{
    struct gzip_inflater *inflater = FAULT("gzip.inflate") ? NULL : calloc(1, sizeof(*inflater));

    if (inflater == NULL) {
        return ERR_MEMORY;
    }
    if (inflateInit2(&inflater->stream, GZIP_WINDOW_BITS) != Z_OK) {
        free(inflater);
        return ERR_MEMORY;
    }
    *ret_inflater = inflater;
    return OK;
}

void gzip_inflater_free(struct gzip_inflater *inflater)
{
    if (inflater != NULL) {
        (void)inflateEnd(&inflater->stream);
        free(inflater);
    }
}

void gzip_inflater_begin(struct gzip_inflater *inflater, struct slice packed)
{
    inflater->rest = packed;
    (void)inflateReset(&inflater->stream); /* fails only without a state */
}

enum err gzip_inflater_step(struct gzip_inflater *inflater, uint8_t *to, size_t room,
                            size_t *ret_bytes, bool *ret_ended)
{
    z_stream *stream = &inflater->stream;
    uInt in = (uInt)(inflater->rest.size < GZIP_STEP_BYTES ? inflater->rest.size : GZIP_STEP_BYTES);
    uInt out = (uInt)(room < GZIP_STEP_BYTES ? room : GZIP_STEP_BYTES);
    bool idle = false;
    int code = Z_OK;

    ASSERT(room > 0);
    stream->next_in = (Bytef *)(uintptr_t)inflater->rest.data;
    stream->avail_in = in;
    stream->next_out = to;
    stream->avail_out = out;
    code = inflate(stream, Z_NO_FLUSH);
    inflater->rest = slice_after(inflater->rest, in - stream->avail_in);
    idle = inflater->rest.size == 0 && stream->avail_out > 0;
    *ret_bytes = out - stream->avail_out;
    *ret_ended = code == Z_STREAM_END;
    switch (code) {
    case Z_STREAM_END:
        return inflater->rest.size == 0
                   ? OK
                   : ERR_MALFORMED; /* bytes after the end of the stream are an error */
    case Z_OK:
        return idle ? ERR_MALFORMED : OK; /* the stream is cut short */
    case Z_MEM_ERROR:
        return ERR_MEMORY;
    default:
        return ERR_MALFORMED;
    }
}

size_t gzip_stated_bytes(struct slice packed)
{
    const uint8_t *end = NULL;

    if (packed.size < GZIP_STATED_BYTES) {
        return 0; /* an empty message may have no data */
    }
    end = packed.data + packed.size;
    return end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
}

/* Makes room for the next step: first the stated size, then twice as much. One byte more each time,
 * because zlib reports the end only with room left; at most one byte above the limit. */
static enum err gzip_grow(struct buffer *out, struct slice packed, size_t max)
{
    size_t more = (out->capacity > 0 ? out->capacity : gzip_stated_bytes(packed)) + 1;
    size_t left = max + 1 - out->size;

    if (out->size > max) {
        return ERR_TOO_LARGE;
    }
    more = more > GZIP_START_BYTES ? more : GZIP_START_BYTES;
    return buffer_reserve(out, more < left ? more : left) ? OK : ERR_MEMORY;
}

static enum err gzip_run(struct gzip_inflater *inflater, size_t max, const atomic_bool *stop,
                         struct buffer *out)
{
    struct slice packed = inflater->rest;
    bool ended = false;
    enum err err = OK;

    while (err == OK && !ended) {
        size_t made = 0;

        if (stop != NULL && atomic_load_explicit(stop, memory_order_relaxed)) {
            return ERR_CANCELLED;
        }
        if (out->size == out->capacity) {
            err = gzip_grow(out, packed, max);
        }
        if (err == OK) {
            err = gzip_inflater_step(inflater, out->data + out->size, out->capacity - out->size,
                                     &made, &ended);
        }
        out->size += made;
    }
    return err == OK && out->size > max ? ERR_TOO_LARGE : err;
}

enum err gzip_inflate(struct arena *arena, struct slice packed, size_t max, const atomic_bool *stop,
                      struct slice *ret_bytes)
{
    struct gzip_inflater *inflater = NULL;
    struct buffer out;
    enum err err = gzip_inflater_new(&inflater);

    if (err != OK) {
        return err;
    }
    gzip_inflater_begin(inflater, packed);
    buffer_init(&out, arena, 0);
    err = gzip_run(inflater, max, stop, &out);
    gzip_inflater_free(inflater);
    if (err == OK) {
        *ret_bytes = buffer_slice(&out);
    }
    return err;
}

enum err gzip_deflate(struct slice bytes, struct buffer *packed)
{
    z_stream stream = {0};
    enum err err = OK;
    uLong bound = 0;

    if (bytes.size > UINT_MAX / 2) {
        return ERR_TOO_LARGE;
    }
    if (FAULT("gzip.deflate") || deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS,
                                              GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        return ERR_MEMORY;
    }
    bound = deflateBound(&stream, bytes.size);
    if (!buffer_reserve(packed, bound)) {
        err = ERR_MEMORY;
        goto out;
    }
    stream.next_in = (Bytef *)(uintptr_t)bytes.data;
    stream.avail_in = (uInt)bytes.size;
    stream.next_out = packed->data + packed->size;
    stream.avail_out = (uInt)bound;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        err = ERR_INTERNAL;
        goto out;
    }
    packed->size += bound - stream.avail_out;
out:
    (void)deflateEnd(&stream);
    return err;
}
