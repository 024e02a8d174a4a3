/*
 * family_walk.h: walks over the rows of a family in one table, merged over all its members. For tables whose
 * keys are key_family_prefix and a tail of FAMILY_WALK_TAIL_BYTES: an inverted time and an inverted seq, or a
 * fingerprint.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_WALK_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_WALK_H

#include "server/domain/layouts/family_members.h"
#include "store/scan.h"

#define FAMILY_WALK_TAIL_BYTES 16

/* The rows to walk over. */
struct family_range {
    enum store_table table;
    struct org_id org;
    const struct family_members *members;
    bool has_past; /* rows of `past_table`, whose keys have the same form, are returned as well */
    enum store_table past_table;
    struct slice
        after; /* a key that a walk of the table returned, for any family; empty: the first row */
};

struct family_walk_member;

/* Valid as long as its arena and its transaction. */
struct family_walk {
    struct family_walk_member *members;
    size_t count;
};

/* Starts with the first row whose tail is greater than that of `range->after`. ERR_INTERNAL for a key of
 * another form. */
MUST_CHECK enum err family_walk_init(struct family_walk *walk, struct arena *arena,
                                     struct store_txn *txn, const struct family_range *range);
/* Returns the next row, by ascending tails; if several members have the same tail, each row is returned.
 * ERR_NOT_FOUND after the last one. The row is borrowed from the transaction. */
MUST_CHECK enum err family_walk_next(struct family_walk *walk, struct slice *ret_key,
                                     struct slice *ret_value);
/* Accepts a zeroed walk too. */
void family_walk_deinit(struct family_walk *walk);

#endif
