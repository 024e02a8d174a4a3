/*
 * hpack.h: how requests write their header fields (RFC 7541), in one of two ways. INDEXED: every
 * field that stays the same is put into the peer's dynamic table once and is a byte or two from then
 * on, as grpc-go and grpc-java do it. LITERAL: as libnghttp2 does it, and with it curl and grpc-js,
 * which never put the path and the authorization into the table. The peer's limit of the table is
 * kept to in both, down to none at all.
 *
 * The indexed way inserts only what fits beside what is there, so that nothing is ever evicted and a
 * field's index follows from how many came after it.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_HPACK_H
#define ERRATA_TOOLS_BENCH_LOAD_HPACK_H

#include "store/base/err.h"
#include "store/base/slice.h"

#include <nghttp2/nghttp2.h>

/* HPACK's own default, and as much as is ever used of what a peer allows. */
#define HPACK_TABLE_BYTES_MAX 4096
/* What RFC 7541 counts for an entry beside its texts; so the table has at most 128 entries. */
#define HPACK_ENTRY_BYTES 32
#define HPACK_ENTRIES_MAX (HPACK_TABLE_BYTES_MAX / HPACK_ENTRY_BYTES)
/* Fields of one request. */
#define HPACK_FIELDS_MAX 48
/* A block goes out in one HEADERS frame. */
#define HPACK_BLOCK_BYTES_MAX 16384
/* What a block may need beyond its texts: for each field two lengths and an index, and two changes
 * of the table's size. */
#define HPACK_OVERHEAD_BYTES (HPACK_FIELDS_MAX * 12 + 12)

enum hpack_way {
    HPACK_INDEXED,
    HPACK_LITERAL
};

struct hpack_field {
    struct slice name; /* lower case */
    struct slice value;
    bool varies; /* another value each time: no use in a table */
};

struct hpack {
    enum hpack_way way;
    nghttp2_hd_deflater *deflater; /* owned; of the literal way */
    uint32_t limit_bytes; /* what the peer allows, and not above HPACK_TABLE_BYTES_MAX */
    bool limit_changed; /* the next block says so first */
    uint32_t used_bytes;
    uint32_t count;
    struct hpack_field
        entries[HPACK_ENTRIES_MAX]; /* as inserted; texts borrowed from their givers */
    uint32_t generation; /* changes whenever the bytes for the same fields may change */
};

/* ERR_MEMORY. */
MUST_CHECK enum err hpack_init(struct hpack *hpack, enum hpack_way way);
/* Takes a zeroed one. */
void hpack_deinit(struct hpack *hpack);
/* The peer's SETTINGS_HEADER_TABLE_SIZE. */
MUST_CHECK enum err hpack_set_limit(struct hpack *hpack, uint32_t limit_bytes);
/* Writes a header block. The texts of fields that do not vary are borrowed for as long as the encoder
 * lives. `out` has HPACK_BLOCK_BYTES_MAX bytes; what hpack_fit says fits. */
MUST_CHECK enum err hpack_encode(struct hpack *hpack, const struct hpack_field *fields,
                                 size_t count, uint8_t *out, size_t *ret_size);
/* Whether a block of these fields fits, in any state of the table. */
bool hpack_fit(const struct hpack_field *fields, size_t count);
/* The indexed way writes the same bytes for the same unvarying fields as long as the generation
 * stays; the literal way promises nothing. */
static inline bool hpack_is_repeatable(const struct hpack *hpack)
{
    return hpack->way == HPACK_INDEXED && !hpack->limit_changed;
}

#endif
