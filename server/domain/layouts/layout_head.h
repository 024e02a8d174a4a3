/*
 * layout_head.h: the head row of a layout's cluster: the one row that holds what changes about a
 * layout and a lookup needs. Corrections count events and keep marks in it, documents record whether
 * they are scans; each changes only its own members. Written by apply only.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_LAYOUT_HEAD_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_LAYOUT_HEAD_H

#include "server/domain/layouts/records.h"

/* Reads a head into memory that outlives the next put; a layout without one has a zero head, OK. */
MUST_CHECK enum err layout_head_read(struct arena *arena, struct store_txn *txn,
                                     const struct key *key, struct layout_head_record *ret_head);
MUST_CHECK enum err layout_head_write(struct arena *arena, struct store_txn *txn,
                                      const struct key *key, const struct layout_head_record *head);

#endif
