/*
 * hpack.h: encodes the header fields of requests (RFC 7541), in one of two modes. INDEXED: every constant
 * field is added to the peer's dynamic table once and is a byte or two from then on, like in grpc-go and
 * grpc-java. LITERAL: like libnghttp2, and therefore curl and grpc-js, which never add the path and the
 * authorization to the table. Both modes keep the peer's limit of the table, also 0.
 *
 * The indexed way inserts only fields that fit beside the present ones, so that nothing is ever evicted and a
 * field's index follows from how many came after it.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_HPACK_H
#define ERRATA_TOOLS_BENCH_LOAD_HPACK_H

#include "store/base/err.h"
#include "store/base/slice.h"

#include <nghttp2/nghttp2.h>

/* HPACK's default, and the maximum that is used if a peer allows more. */
#define HPACK_TABLE_BYTES_MAX 4096
/* Overhead that RFC 7541 counts for each entry; it limits the table to 128 entries. */
#define HPACK_ENTRY_BYTES 32
#define HPACK_ENTRIES_MAX (HPACK_TABLE_BYTES_MAX / HPACK_ENTRY_BYTES)
/* Maximum fields of one request. */
#define HPACK_FIELDS_MAX 48
/* Maximum size of a block, which is sent in one HEADERS frame. */
#define HPACK_BLOCK_BYTES_MAX 16384
/* Maximum size of a block in addition to its texts: two lengths and an index for each field, and
 * two changes of the table size. */
#define HPACK_OVERHEAD_BYTES (HPACK_FIELDS_MAX * 12 + 12)

enum hpack_way {
    HPACK_INDEXED,
    HPACK_LITERAL
};

struct hpack_field {
    struct slice name; /* name in lower case */
    struct slice value;
    bool varies; /* the value changes with each call, so it is not inserted into the table */
};

struct hpack {
    enum hpack_way way;
    nghttp2_hd_deflater *deflater; /* owned; of the literal way */
    uint32_t limit_bytes; /* the peer's limit, at most HPACK_TABLE_BYTES_MAX */
    bool limit_changed; /* the next block announces it first */
    uint32_t used_bytes;
    uint32_t count;
    struct hpack_field entries
        [HPACK_ENTRIES_MAX]; /* entries in order of insertion; texts borrowed from the callers */
    uint32_t generation; /* incremented whenever the same fields may get other bytes */
};

/* ERR_MEMORY. */
MUST_CHECK enum err hpack_init(struct hpack *hpack, enum hpack_way way);
/* Accepts a zeroed one. */
void hpack_deinit(struct hpack *hpack);
/* Sets the peer's SETTINGS_HEADER_TABLE_SIZE. */
MUST_CHECK enum err hpack_set_limit(struct hpack *hpack, uint32_t limit_bytes);
/* Writes a header block. The texts of fields that do not vary are borrowed for as long as the encoder
 * lives. `out` has HPACK_BLOCK_BYTES_MAX bytes, which suffice if hpack_fit returned true. */
MUST_CHECK enum err hpack_encode(struct hpack *hpack, const struct hpack_field *fields,
                                 size_t count, uint8_t *out, size_t *ret_size);
/* Returns whether a block of these fields fits in any state of the table. */
bool hpack_fit(const struct hpack_field *fields, size_t count);
/* The indexed mode writes the same bytes for the same constant fields while the generation is
 * unchanged; the literal mode guarantees nothing. */
static inline bool hpack_is_repeatable(const struct hpack *hpack)
{
    return hpack->way == HPACK_INDEXED && !hpack->limit_changed;
}

#endif
