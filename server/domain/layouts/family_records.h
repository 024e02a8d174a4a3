/*
 * family_records.h: rows of layout families as plain C, and their bytes: a message of
 * proto/record/layouts.proto, and sketches as raw bytes, since a scan compares thousands of them. The rules of
 * store/records.h apply: slices are borrowed from the bytes, and bytes that cannot be decoded are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_RECORDS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_RECORDS_H

#include "server/domain/layouts/sketch/family_sketch.h"
#include "store/base/arena.h"
#include "store/key.h"

/* Maximum sketches of a family: that of its first document, and the 15 newest distinct ones. The newest ones
 * keep a layout that changes slowly in its family; the first one limits how far the family can drift. */
#define FAMILY_ROW_SKETCHES_MAX 16

/* Maximum aliases of a family: a lookup of the family reads the rows of each. */
#define FAMILY_ALIASES_MAX 64

/* FAMILY. Counts and sketches are those of the documents assigned to this family, excluding its aliases. */
struct family_record {
    struct uuid id; /* id of the event that made it */
    uint64_t document_count;
    uint64_t fingerprint_count; /* distinct exact fingerprints of these documents */
    int64_t first_seen_at_us;
    int64_t last_seen_at_us;
    uint64_t sketch_seqs[FAMILY_ROW_SKETCHES_MAX]; /* keys of its sketches: the first one, then the
                                                    * others, oldest first */
    size_t sketch_count;
    uint64_t alias_of_seq; /* the family into which it was merged, which is not an alias; 0: none */
    uint64_t alias_seqs[FAMILY_ALIASES_MAX]; /* seqs of the families that were merged into it */
    size_t alias_count;
};

/* FAMILY_SKETCH. */
struct family_sketch_record {
    uint64_t family_seq; /* not 0 */
    struct slice sketch; /* as family_sketch_encode writes it; not empty */
};

/* Maximum bytes of a sketch's row. */
#define FAMILY_SKETCH_ROW_BYTES_MAX (8 + FAMILY_SKETCH_BYTES_MAX)

MUST_CHECK enum err record_decode_family(struct slice bytes, struct family_record *ret_record);
/* Decodes only the aliases: `alias_of_seq`, `alias_seqs` and `alias_count`, for lookups. */
MUST_CHECK enum err record_decode_family_aliases(struct slice bytes,
                                                 struct family_record *ret_record);
MUST_CHECK enum err record_decode_family_sketch(struct slice bytes,
                                                struct family_sketch_record *ret_record);

MUST_CHECK enum err record_encode_family(struct arena *arena, const struct family_record *record,
                                         struct slice *ret_bytes);
MUST_CHECK enum err record_encode_family_sketch(struct arena *arena,
                                                const struct family_sketch_record *record,
                                                struct slice *ret_bytes);

#endif
