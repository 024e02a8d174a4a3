/*
 * meta.h: the rows of the table META: values that belong to this node, by the keys of store/keys.h.
 */
#ifndef ERRATA_STORE_META_H
#define ERRATA_STORE_META_H

#include "store/keys.h"
#include "store/records.h"

/* Returns whether there is a row. */
MUST_CHECK enum err meta_exists(struct store_txn *txn, const struct key *key, bool *ret_exists);
/* Reads a row; its bytes are borrowed from the transaction. ERR_NOT_FOUND without one. */
MUST_CHECK enum err meta_read(struct store_txn *txn, const struct key *key,
                              struct meta_record *ret_record);
/* Adds or replaces a row. */
MUST_CHECK enum err meta_put(struct arena *arena, struct store_txn *txn, const struct key *key,
                             const struct meta_record *record);

#endif
