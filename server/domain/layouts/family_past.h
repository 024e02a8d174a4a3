/*
 * family_past.h: layout families as they were after an earlier event. Rows of families have only their present members; those
 * before are found by undoing the merges since then, and the splits that took one back, newest first. Each has a row with the
 * members that the changed families had before it. A split by documents leaves rows for each document that it moves, and for
 * their examples and layouts.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_PAST_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_PAST_H

#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/keys.h"
#include "store/log.h"

/* Maximum rows that one read examines: merges and splits since the requested time, or families of one layout.
 * Users merge and split one by one; 100,000 rows take about 20 ms, and only reads of the past, which run on the
 * pool, read more than a few. */
#define FAMILY_PAST_ROWS_MAX 100000

/* Records for apply the families that an event changes, with their members before it. For a merge, `other` is
 * the family that becomes an alias; for a split it is NULL. */
MUST_CHECK enum err family_past_note(struct store_txn *txn, const struct event *event,
                                     const struct family_members *changed,
                                     const struct family_members *other);
/* Returns the members of the family of `family_seq` after the event `as_of_seq` (UINT64_MAX: now); `seqs[0]` is
 * the family itself. ERR_NOT_FOUND if no event with this seq created a family, ERR_PRECONDITION if more than
 * FAMILY_PAST_ROWS_MAX changes would have to be undone. */
MUST_CHECK enum err family_past_members(struct store_txn *txn, struct org_id org,
                                        uint64_t family_seq, uint64_t as_of_seq,
                                        struct family_members *ret_members);
/* Returns the family, or alias, to which a document belonged after the event `as_of_seq`, which is
 * not before the event with which it joined a family; `now_seq` is its current family. */
MUST_CHECK enum err family_past_document(struct store_txn *txn, struct org_id org,
                                         struct slice document_id, uint64_t now_seq,
                                         uint64_t as_of_seq, uint64_t *ret_family_seq);
/* Returns the members of the family that all documents of a layout shared after the event
 * `as_of_seq`. ERR_NOT_FOUND if they belonged to several families, or one to none, or if there were
 * no documents; other errors as family_past_members. */
MUST_CHECK enum err family_past_of_layout(struct store_txn *txn, struct org_id org,
                                          const struct key_fingerprint *fingerprint,
                                          uint64_t as_of_seq, struct family_members *ret_members);

#endif
