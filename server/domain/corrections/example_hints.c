/*
 * example_hints.c: see example_hints.h.
 */
#include "server/domain/corrections/example_hints.h"

enum err example_hints_measure(const struct example_hint *hints, size_t count, size_t *ret_size)
{
    size_t size =
        1 + count; /* bytes around the pieces: a bracket, and a comma or bracket after each */

    for (size_t i = 0; i < count; i++) {
        size_t hint = 0;

        if (!hint_unpacked_size(&hints[i].hint, &hint)) {
            return ERR_CORRUPT;
        }
        size += hint;
    }
    *ret_size = size;
    return OK;
}

enum err example_hints_write(const struct example_hint *hints, size_t count, struct buffer *body)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = 0;

        buffer_append_byte(body, i == 0 ? '[' : ',');
        if (!hint_unpack(hints[i].example, &hints[i].hint, body->data + body->size, &size)) {
            return ERR_CORRUPT;
        }
        body->size += size;
    }
    buffer_append_byte(body, ']');
    return OK;
}

enum err example_hints_make(struct arena *arena, const struct example_hint *hints, size_t count,
                            struct slice *ret_json)
{
    struct buffer json = {0};
    size_t size = 0;
    enum err err = OK;

    *ret_json = slice_of(NULL, 0);
    if (count == 0) {
        return OK;
    }
    err = example_hints_measure(hints, count, &size);
    if (err != OK) {
        return err;
    }
    buffer_init(&json, arena, size);
    err = buffer_reserve(&json, size) ? example_hints_write(hints, count, &json) : ERR_MEMORY;
    if (err == OK) {
        *ret_json = buffer_slice(&json);
    }
    return err;
}

struct sha256_digest example_hints_hash(const uint8_t *hashes, size_t count)
{
    return sha256(slice_of(hashes, count * KEY_HASH_BYTES));
}
