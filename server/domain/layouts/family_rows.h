/*
 * family_rows.h: the rows of layout families: what a document adds to its family, and which family all
 * documents of a layout share. Written by apply only.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_ROWS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_ROWS_H

#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/keys.h"
#include "store/base/ctx.h"
#include "store/log.h"

/* A document with a fingerprint, as its event records it. */
struct family_addend {
    struct org_id org;
    struct uuid event_id; /* of the document's event, which are also the id and seq */
    uint64_t event_seq; /* of a family that it makes */
    int64_t created_at_us;
    struct sha256_digest measured; /* the fingerprint is the hex digits of this */
    struct key_fingerprint fingerprint;
    struct slice sketch; /* as family_sketch_encode writes it; empty: no family */
    uint64_t family_seq; /* of its family, which may be `event_seq`; 0 without a sketch */
    uint64_t dropped_seq; /* the key of the sketch that it replaces in the organisation; 0: none */
};

/* Counts a document in its family and its layout, and keeps its sketch. */
MUST_CHECK enum err family_rows_add(struct ctx *ctx, struct store_txn *txn,
                                    const struct family_addend *addend);

/* Counts a document in the rows of its layout, and lists it under a family that exists: what family_rows_add does
 * except for the family's own row and its sketches. `sketch` and `dropped_seq` are not read. `since_seq` is of the event
 * that adds it. */
MUST_CHECK enum err family_rows_enter(struct store_txn *txn, const struct family_addend *addend,
                                      uint64_t since_seq);
/* Removes the sketch with this key, which may be of any family, and its place in the family's row. */
MUST_CHECK enum err family_sketch_drop(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                       uint64_t seq);

/* ERR_NOT_FOUND for a seq that made no family. */
MUST_CHECK enum err family_row_read(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                                    struct family_record *ret_family);

MUST_CHECK enum err family_row_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     uint64_t family_seq, const struct family_record *family);

/* The value of LAYOUT_FAMILY: how many documents, and the seq of the event since which the family has any. */
#define LAYOUT_FAMILY_BYTES (2 * sizeof(uint64_t))

/* The families of a layout's documents. */
struct family_of_layout {
    uint64_t family_seq; /* of all documents, resolved (family_members.h); 0: they are of several
                          * families, or some of none */
    bool any; /* the layout has documents */
};

MUST_CHECK enum err family_of_layout_read(struct store_txn *txn, struct org_id org,
                                          const struct key_fingerprint *fingerprint,
                                          struct family_of_layout *ret_family);
/* Whether a layout has documents of a member of the family. */
MUST_CHECK enum err layout_is_of_family(struct store_txn *txn, struct org_id org,
                                        const struct key_fingerprint *fingerprint,
                                        const struct family_members *members, bool *ret_is);

#endif
