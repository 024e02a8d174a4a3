/*
 * gzip.c: zlib's streams, kept to one message.
 */
#include "server/grpc/gzip.h"

#include "store/base/fault_point.h"

#include <limits.h>
#include <zlib.h>

/* 15 bits of window; 16 more ask for gzip and nothing else. */
#define GZIP_WINDOW_BITS (15 + 16)
#define GZIP_LEVEL 1
#define GZIP_MEMORY_LEVEL 8
/* The least room that inflating starts with. */
#define GZIP_START_BYTES 4096

/* What inflating says beside Z_OK: the end, or what it failed of. */
static enum err gzip_err_of_zlib(int code)
{
    if (code == Z_STREAM_END) {
        return OK;
    }
    return code == Z_MEM_ERROR ? ERR_MEMORY : ERR_MALFORMED;
}

/* Gives inflate more room: one byte above the limit at most, to see that it is passed. */
static enum err gzip_grow(struct buffer *out, size_t max)
{
    size_t more = out->capacity > 0 ? out->capacity : GZIP_START_BYTES;
    size_t left = max + 1 - out->size;

    if (out->size > max) {
        return ERR_TOO_LARGE;
    }
    return buffer_reserve(out, more < left ? more : left) ? OK : ERR_MEMORY;
}

static enum err gzip_run_inflate(z_stream *stream, struct buffer *out, size_t max)
{
    int code = Z_OK;

    while (code == Z_OK) {
        size_t room = 0;

        if (out->size == out->capacity) {
            enum err err = gzip_grow(out, max);

            if (err != OK) {
                return err;
            }
        }
        room = out->capacity - out->size;
        stream->next_out = out->data + out->size;
        stream->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
        room = stream->avail_out;
        code = inflate(stream, Z_NO_FLUSH);
        out->size += room - stream->avail_out;
        if (code == Z_OK && stream->avail_in == 0 && stream->avail_out > 0) {
            return ERR_MALFORMED; /* cut short */
        }
    }
    if (code == Z_STREAM_END && stream->avail_in > 0) {
        return ERR_MALFORMED; /* something stands behind it */
    }
    if (out->size > max) {
        return ERR_TOO_LARGE;
    }
    return gzip_err_of_zlib(code);
}

enum err gzip_inflate(struct arena *arena, struct slice packed, size_t max, struct slice *ret_bytes)
{
    z_stream stream = {0};
    struct buffer out;
    enum err err = OK;

    if (packed.size == 0 || packed.size > UINT_MAX) {
        return ERR_MALFORMED;
    }
    if (FAULT("gzip.inflate") || inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK) {
        return ERR_MEMORY;
    }
    stream.next_in = (Bytef *)(uintptr_t)packed.data;
    stream.avail_in = (uInt)packed.size;
    buffer_init(&out, arena, 0);
    err = gzip_run_inflate(&stream, &out, max);
    (void)inflateEnd(&stream);
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
