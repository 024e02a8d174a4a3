/*
 * layout_head.h: the head row of a layout's cluster: all changing values of a layout that a lookup needs, in
 * one row. Corrections count events and store marks in it, documents record whether they are scans; each module
 * changes only its own members. Only apply writes it.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_LAYOUT_HEAD_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_LAYOUT_HEAD_H

#include "server/domain/layouts/records.h"

/* Reads a head into memory that outlives the next put. For a layout without head returns OK and a zeroed head.
 */
MUST_CHECK enum err layout_head_read(struct arena *arena, struct store_txn *txn,
                                     const struct key *key, struct layout_head_record *ret_head);
MUST_CHECK enum err layout_head_write(struct arena *arena, struct store_txn *txn,
                                      const struct key *key, const struct layout_head_record *head);

#endif
