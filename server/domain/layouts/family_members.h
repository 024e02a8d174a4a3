/*
 * family_members.h: which families make up one family: itself, and the families that a person merged into
 * it, its aliases. A merge writes only this relation: the rows of documents, sketches, layouts and
 * examples keep the family that they were assigned to, or were moved to by a split with documents. So merging and taking a merge back cost the same
 * for families of any size, and taking it back restores both families exactly. Readers look at the rows of all
 * members, and name the family itself.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_MEMBERS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_MEMBERS_H

#include "server/domain/layouts/family_records.h"

/* A family and its aliases. */
#define FAMILY_MEMBERS_MAX (1 + FAMILY_ALIASES_MAX)

/* The seqs of the events that created the members. */
struct family_members {
    /* The family itself, then its aliases in the order of their merges. */
    uint64_t seqs[FAMILY_MEMBERS_MAX];
    size_t count; /* from 1 */
};

/* Finds the family of `family_seq`: itself, or the one into which it was merged. Reads one or two rows.
 * ERR_NOT_FOUND if no event with this seq created a family. */
MUST_CHECK enum err family_resolve(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                                   uint64_t *ret_family_seq, struct family_record *ret_family);
/* The members of a family that was resolved. */
void family_members_of(uint64_t family_seq, const struct family_record *family,
                       struct family_members *ret_members);
/* Returns the members of the family of `family_seq`: family_resolve, then family_members_of. */
MUST_CHECK enum err family_members(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                                   struct family_members *ret_members);
bool family_members_have(const struct family_members *members, uint64_t family_seq);

/* Adds the counts and times of a member to those of `total`, which starts with zeros or with one of the members. */
void family_total_add(struct family_record *total, const struct family_record *member);
/* The counts and times of a resolved family over all its members, in place of its own; reads a row for each
 * alias. A fingerprint of several members is counted once for each. */
MUST_CHECK enum err family_total(struct store_txn *txn, struct org_id org,
                                 const struct family_record *family,
                                 struct family_record *ret_total);

#endif
