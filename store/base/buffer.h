/*
 * buffer.h: a growing sequence of bytes in an arena. A failed append (above the arena's limit) is
 * remembered: later appends do nothing, and buffer_ok is false, so that a writer checks once at its
 * end. Growing leaves the old piece in the arena; start with the likely size.
 */
#ifndef ERRATA_STORE_BASE_BUFFER_H
#define ERRATA_STORE_BASE_BUFFER_H

#include "store/base/arena.h"

struct buffer {
    struct arena *arena; /* arena of the bytes */
    uint8_t *data;
    size_t size; /* bytes written */
    size_t capacity; /* bytes there is room for */
    bool failed; /* an append did not fit */
};

/* Initialises an empty buffer with room for `capacity` bytes (0: none yet). */
void buffer_init(struct buffer *buffer, struct arena *arena, size_t capacity);
/* Called by buffer_reserve if there is no room yet. */
bool buffer_reserve_slowly(struct buffer *buffer, size_t more);
void buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);

static inline bool buffer_ok(const struct buffer *buffer)
{
    return !buffer->failed;
}

/* Makes room for `more` bytes; on failure false, and the buffer is marked as failed. */
static inline bool buffer_reserve(struct buffer *buffer, size_t more)
{
    if (!buffer->failed && more <= buffer->capacity - buffer->size) {
        return true;
    }
    return buffer_reserve_slowly(buffer, more);
}

static inline void buffer_append(struct buffer *buffer, struct slice bytes)
{
    if (bytes.size > 0 && buffer_reserve(buffer, bytes.size)) {
        memcpy(buffer->data + buffer->size, bytes.data, bytes.size);
        buffer->size += bytes.size;
    }
}

static inline void buffer_append_byte(struct buffer *buffer, uint8_t byte)
{
    if (buffer_reserve(buffer, 1)) {
        buffer->data[buffer->size++] = byte;
    }
}

/* Returns the content; valid until the next append, or the end of the arena. */
static inline struct slice buffer_slice(const struct buffer *buffer)
{
    return slice_of(buffer->data, buffer->size);
}

#endif
