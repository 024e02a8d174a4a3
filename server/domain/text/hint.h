/*
 * hint.h: an example's piece of `hint_examples_json`, built once when an event is applied, so that
 * a read only copies bytes. Every string leaf and every member's name is sanitised; numbers and
 * structure are unchanged. A row contains the piece without its constant text, packed with the
 * example's bytes as the dictionary.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_HINT_H
#define ERRATA_SERVER_DOMAIN_TEXT_HINT_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* `{"input_snippet":...,"output":{...}}` in the arena. `output_json` is a checked JSON object.
 * Members whose names become equal once they are sanitised would make the text ambiguous: all
 * members with a changed name are then omitted. Fails only with ERR_MEMORY. */
MUST_CHECK enum err hint_make_piece(struct arena *arena, struct slice input_snippet,
                                    struct slice output_json, struct slice *ret_piece);

/* A piece as a row stores it. */
struct hint_packed {
    uint32_t snippet_bytes; /* size of the quoted snippet, which precedes the output */
    struct slice packed; /* quoted snippet and output, compressed (store/base/pack.h) */
};

/* Packs a piece of hint_make_piece into the arena. ERR_MEMORY, or ERR_INVALID if it is longer than PACK_BYTES_MAX. */
MUST_CHECK enum err hint_pack(struct arena *arena, struct slice dictionary, struct slice piece,
                              struct hint_packed *ret_packed);
/* Returns how many bytes hint_unpack writes; false if the packed bytes do not begin with a valid size. */
MUST_CHECK bool hint_unpacked_size(const struct hint_packed *packed, size_t *ret_size);
/* Writes the piece to `out`, which must have room for the size that hint_unpacked_size returned,
 * and returns that size. Returns false if the piece does not unpack to exactly that size; `out` is
 * then undefined. */
MUST_CHECK bool hint_unpack(struct slice dictionary, const struct hint_packed *packed, uint8_t *out,
                            size_t *ret_size);

#endif
