/*
 * example_hints.h: `hint_examples_json` of some examples: the array of their prepared pieces, and the hash that
 * identifies it in a reference.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_HINTS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_HINTS_H

#include "server/domain/text/hint.h"
#include "store/base/buffer.h"
#include "store/base/sha256.h"
#include "store/key.h"

/* The prompt piece of one example, borrowed from its row. */
struct example_hint {
    struct slice example; /* as in struct example_record */
    struct hint_packed hint; /* `example` is its dictionary */
};

/* Returns the size in bytes of the array of `count` pieces; `count` is at least 1. Returns ERR_CORRUPT if a
 * piece cannot be unpacked. */
MUST_CHECK enum err example_hints_measure(const struct example_hint *hints, size_t count,
                                          size_t *ret_size);
/* Appends the array to a buffer that has room for it. */
MUST_CHECK enum err example_hints_write(const struct example_hint *hints, size_t count,
                                        struct buffer *body);
/* Builds the array in the arena; empty if there are no pieces. */
MUST_CHECK enum err example_hints_make(struct arena *arena, const struct example_hint *hints,
                                       size_t count, struct slice *ret_json);
/* Returns the digest whose first 16 bytes are the text hash of an exposure of examples: the SHA-256 of the
 * hashes of its pieces (KEY_HASH_BYTES each), in the order in which they are served. It does not depend on the
 * view of the response. */
struct sha256_digest example_hints_hash(const uint8_t *hashes, size_t count);

#endif
