/*
 * family_rows.h: the rows of layout families: the counts of a document in its family, and the family to which
 * all documents of a layout belong. Only apply writes them.
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
    struct uuid event_id; /* id of the document's event; also that of a family that it creates */
    uint64_t event_seq; /* seq of that event */
    int64_t created_at_us;
    struct sha256_digest measured; /* the fingerprint is the hex form of this digest */
    struct key_fingerprint fingerprint;
    struct slice sketch; /* as family_sketch_encode writes it; empty: no family */
    uint64_t family_seq; /* may be `event_seq`: a new family; 0 without a sketch */
    uint64_t dropped_seq; /* key of the sketch that this one replaces; 0: none */
};

/* Counts a document in its family and its layout, and stores its sketch. */
MUST_CHECK enum err family_rows_add(struct ctx *ctx, struct store_txn *txn,
                                    const struct family_addend *addend);

/* Counts a document in the rows of its layout, and lists it under a family that exists: like
 * family_rows_add, but without the family's own row and its sketches. `sketch` and `dropped_seq`
 * are not read. `since_seq` is of the event that adds it. */
MUST_CHECK enum err family_rows_enter(struct store_txn *txn, const struct family_addend *addend,
                                      uint64_t since_seq);
/* Removes the sketch with this key, which may be of any family, and its place in the family's row. */
MUST_CHECK enum err family_sketch_drop(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                       uint64_t seq);
/* Returns the place of an equal sketch in a family's list; `sketch_count` if there is none. */
MUST_CHECK enum err family_sketch_find(struct store_txn *txn, struct org_id org,
                                       const struct family_record *family, struct slice sketch,
                                       size_t *ret_place);

/* ERR_NOT_FOUND for a seq that created no family. */
MUST_CHECK enum err family_row_read(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                                    struct family_record *ret_family);

MUST_CHECK enum err family_row_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     uint64_t family_seq, const struct family_record *family);

/* The value of LAYOUT_FAMILY: the number of documents, and the seq of the event since which the family has any. */
#define LAYOUT_FAMILY_BYTES (2 * sizeof(uint64_t))

/* The families of a layout's documents. */
struct family_of_layout {
    /* The resolved family (family_members.h) of all documents; 0: there are several families, or
     * documents without family. */
    uint64_t family_seq;
    bool any; /* the layout has documents */
};

MUST_CHECK enum err family_of_layout_read(struct store_txn *txn, struct org_id org,
                                          const struct key_fingerprint *fingerprint,
                                          struct family_of_layout *ret_family);
/* Returns whether a layout has documents of a member of the family. */
MUST_CHECK enum err layout_is_of_family(struct store_txn *txn, struct org_id org,
                                        const struct key_fingerprint *fingerprint,
                                        const struct family_members *members, bool *ret_is);

#endif
