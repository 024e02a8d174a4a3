/*
 * slice.h: borrowed bytes. A slice owns nothing; a function that returns one documents its owner
 * and lifetime. An empty slice may have NULL data.
 */
#ifndef ERRATA_STORE_BASE_SLICE_H
#define ERRATA_STORE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const uint8_t *data;
    size_t size;
};

/* A slice of a string literal, without its NUL. */
#define SLICE(literal) ((struct slice){(const uint8_t *)("" literal), sizeof(literal) - 1})

static inline struct slice slice_of(const void *data, size_t size)
{
    return (struct slice){(const uint8_t *)data, size};
}

/* Returns a slice of a C string; NULL yields the empty slice. */
static inline struct slice slice_text(const char *text)
{
    return slice_of(text, text != NULL ? strlen(text) : 0);
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool slice_starts_with(struct slice whole, struct slice prefix)
{
    return whole.size >= prefix.size &&
           (prefix.size == 0 || memcmp(whole.data, prefix.data, prefix.size) == 0);
}

/* Compares bytes, a prefix before the longer one: negative, 0 or positive. */
static inline int slice_compare(struct slice a, struct slice b)
{
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared == 0 ? 0 : memcmp(a.data, b.data, shared);

    if (order != 0) {
        return order;
    }
    return a.size < b.size ? -1 : a.size > b.size;
}

/* Returns the rest after the first `count` bytes; `count` is at most the slice's size. */
static inline struct slice slice_after(struct slice whole, size_t count)
{
    return slice_of(count == 0 ? whole.data : whole.data + count, whole.size - count);
}

#endif
