/*
 * buffer.c: growing bytes in an arena: in place if the buffer is the arena's last piece, else by
 * doubling into a new piece.
 */
#include "store/base/buffer.h"

#include <stdarg.h>
#include <stdio.h>

#define CAPACITY_MIN 64

void buffer_init(struct buffer *buffer, struct arena *arena, size_t capacity)
{
    *buffer = (struct buffer){.arena = arena};
    if (capacity > 0) {
        (void)buffer_reserve(buffer, capacity);
    }
}

static bool grow(struct buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity <= needed / 2 ? needed : buffer->capacity * 2;
    uint8_t *data = NULL;

    if (capacity < CAPACITY_MIN) {
        capacity = CAPACITY_MIN;
    }
    if (arena_extend(buffer->arena, buffer->data, buffer->capacity, capacity)) {
        buffer->capacity = capacity;
        return true;
    }
    data = arena_alloc(buffer->arena, capacity);
    if (data == NULL && capacity > needed) {
        capacity = needed; /* near the limit, the exact size may still fit */
        data = arena_alloc(buffer->arena, capacity);
    }
    if (data == NULL) {
        return false;
    }
    if (buffer->size > 0) {
        memcpy(data, buffer->data, buffer->size);
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

bool buffer_reserve_slowly(struct buffer *buffer, size_t more)
{
    if (buffer->failed) {
        return false;
    }
    if (more > SIZE_MAX / 4 - buffer->size || !grow(buffer, buffer->size + more)) {
        buffer->failed = true;
        return false;
    }
    return true;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list values;
    int size = 0;

    va_start(values, format);
    size = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (size < 0 || !buffer_reserve(buffer, (size_t)size + 1)) {
        buffer->failed = true;
        return;
    }
    va_start(values, format);
    (void)vsnprintf((char *)buffer->data + buffer->size, (size_t)size + 1, format, values);
    va_end(values);
    buffer->size += (size_t)size;
}
