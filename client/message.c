/*
 * message.c: see message.h. Buffers grow with the received bytes, not with the announced size.
 */
#include "client/message.h"

#include "store/base/bytes.h"

#include <stdlib.h>
#include <zlib.h>

/* zlib's window with 16 added: the gzip wrapper. */
#define GZIP_WINDOW_BITS (15 + 16)
/* zlib's own default for memory and speed. */
#define GZIP_MEMORY_LEVEL 8
/* The first piece of a message's buffer; most replies fit. */
#define MESSAGE_START_BYTES 4096

static enum err gzip_deflate(struct slice message, uint8_t *room, size_t room_bytes,
                             size_t *ret_size)
{
    z_stream stream = {0};
    int result = 0;

    if (deflateInit2(&stream, 1, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        return ERR_MEMORY;
    }
    stream.next_in = (Bytef *)(uintptr_t)message.data;
    stream.avail_in = (uInt)message.size;
    stream.next_out = room;
    stream.avail_out = (uInt)room_bytes;
    result = deflate(&stream, Z_FINISH);
    *ret_size = stream.total_out;
    (void)deflateEnd(&stream);
    return result == Z_STREAM_END ? OK : ERR_INTERNAL;
}

enum err client_message_frame(struct slice message, bool gzip, uint8_t **ret_bytes,
                              size_t *ret_size)
{
    /* compressBound counts zlib's wrapper; gzip's is 12 bytes longer. */
    size_t room = gzip ? compressBound((uLong)message.size) + 32 : message.size;
    size_t size = message.size;
    uint8_t *bytes = NULL;
    enum err err = OK;

    if (room > UINT32_MAX) {
        return ERR_TOO_LARGE;
    }
    bytes = malloc(CLIENT_PREFIX_BYTES + room);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    if (gzip) {
        err = gzip_deflate(message, bytes + CLIENT_PREFIX_BYTES, room, &size);
    } else if (size > 0) {
        memcpy(bytes + CLIENT_PREFIX_BYTES, message.data, size);
    }
    if (err != OK) {
        free(bytes);
        return err;
    }
    bytes[0] = gzip ? 1 : 0;
    bytes_put_be32(bytes + 1, (uint32_t)size);
    *ret_bytes = bytes;
    *ret_size = CLIENT_PREFIX_BYTES + size;
    return OK;
}

void client_reader_init(struct client_reader *reader, size_t message_bytes_max)
{
    memset(reader, 0, sizeof(*reader));
    reader->message_bytes_max = message_bytes_max;
}

void client_reader_deinit(struct client_reader *reader)
{
    free(reader->message);
    free(reader->inflated);
    reader->message = NULL;
    reader->inflated = NULL;
}

bool client_reader_between(const struct client_reader *reader)
{
    return reader->prefix_filled == 0;
}

static struct slice slice_take(struct slice *bytes, size_t most)
{
    struct slice taken = slice_of(bytes->data, bytes->size < most ? bytes->size : most);

    *bytes = slice_after(*bytes, taken.size);
    return taken;
}

static enum err reader_take_prefix(struct client_reader *reader, struct slice *bytes)
{
    struct slice piece = slice_take(bytes, CLIENT_PREFIX_BYTES - reader->prefix_filled);

    memcpy(reader->prefix + reader->prefix_filled, piece.data, piece.size);
    reader->prefix_filled += piece.size;
    if (reader->prefix_filled < CLIENT_PREFIX_BYTES) {
        return OK;
    }
    if (reader->prefix[0] > 1 || (reader->prefix[0] == 1 && !reader->gzip)) {
        return ERR_MALFORMED;
    }
    reader->expected = bytes_get_be32(reader->prefix + 1);
    reader->filled = 0;
    return reader->expected > reader->message_bytes_max ? ERR_TOO_LARGE : OK;
}

/* Doubles, so that the cost stays linear; `expected` bounds it. */
static enum err reader_grow(struct client_reader *reader, size_t needed)
{
    size_t capacity =
        reader->capacity < MESSAGE_START_BYTES ? MESSAGE_START_BYTES : reader->capacity;
    uint8_t *grown = NULL;

    if (needed <= reader->capacity) {
        return OK;
    }
    while (capacity < needed) {
        capacity *= 2;
    }
    grown = realloc(reader->message, capacity);
    if (grown == NULL) {
        return ERR_MEMORY;
    }
    reader->message = grown;
    reader->capacity = capacity;
    return OK;
}

/* Inflates piece by piece, so that a small message cannot make a large buffer at once. */
static enum err reader_inflate_into(struct client_reader *reader, z_stream *stream,
                                    size_t *ret_size)
{
    size_t capacity = 0;
    int result = Z_OK;

    while (result != Z_STREAM_END) {
        size_t next = capacity == 0 ? MESSAGE_START_BYTES : capacity * 2;
        uint8_t *grown = NULL;

        if (stream->total_out > reader->message_bytes_max) {
            return ERR_TOO_LARGE;
        }
        grown = realloc(reader->inflated, next);
        if (grown == NULL) {
            return ERR_MEMORY;
        }
        reader->inflated = grown;
        stream->next_out = grown + capacity;
        stream->avail_out = (uInt)(next - capacity);
        capacity = next;
        result = inflate(stream, Z_NO_FLUSH);
        if (result != Z_STREAM_END && (result != Z_OK || stream->avail_out != 0)) {
            return ERR_MALFORMED;
        }
    }
    *ret_size = stream->total_out;
    return stream->total_out > reader->message_bytes_max ? ERR_TOO_LARGE : OK;
}

static enum err reader_inflate(struct client_reader *reader, struct slice *ret_message)
{
    z_stream stream = {0};
    size_t size = 0;
    enum err err = OK;

    free(reader->inflated);
    reader->inflated = NULL;
    if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK) {
        return ERR_MEMORY;
    }
    stream.next_in = reader->message;
    stream.avail_in = (uInt)reader->filled;
    err = reader_inflate_into(reader, &stream, &size);
    (void)inflateEnd(&stream);
    if (err == OK) {
        *ret_message = slice_of(reader->inflated, size);
    }
    return err;
}

enum err client_reader_take(struct client_reader *reader, struct slice *bytes, bool *ret_complete,
                            struct slice *ret_message)
{
    struct slice piece = {NULL, 0};
    enum err err = OK;

    *ret_complete = false;
    if (reader->prefix_filled < CLIENT_PREFIX_BYTES) {
        err = reader_take_prefix(reader, bytes);
        if (err != OK || reader->prefix_filled < CLIENT_PREFIX_BYTES) {
            return err;
        }
    }
    piece = slice_take(bytes, reader->expected - reader->filled);
    err = reader_grow(reader, reader->filled + piece.size);
    if (err != OK) {
        return err;
    }
    if (piece.size > 0) {
        memcpy(reader->message + reader->filled, piece.data, piece.size);
    }
    reader->filled += piece.size;
    if (reader->filled < reader->expected) {
        return OK;
    }
    reader->prefix_filled = 0;
    *ret_complete = true;
    if (reader->prefix[0] == 1) {
        return reader_inflate(reader, ret_message);
    }
    *ret_message = slice_of(reader->message, reader->filled);
    return OK;
}
