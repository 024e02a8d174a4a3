/*
 * layout_rows_internal.h: marks of examples, for this folder's own files.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_LAYOUT_ROWS_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_LAYOUT_ROWS_INTERNAL_H

#include "server/domain/corrections/layout_rows.h"
#include "server/domain/layouts/layout_head.h"

/* Finds the mark of an example in the head; NULL if it is not among the newest. */
struct layout_mark *layout_mark_find(struct layout_head_record *head, uint64_t seq);
/* Reads the mark, by seq, of an example whose mark is not in the head; zeros if it has no row. */
MUST_CHECK enum err layout_mark_read(struct store_txn *txn, struct org_id org,
                                     struct layout_mark *mark);
/* Writes the row of such a mark; deletes the row if the mark has no values. */
MUST_CHECK enum err layout_mark_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                      const struct layout_mark *mark);

/* Removes the mark of an example whose row was deleted, moves the mark of the next older example into its
 * place in the head, and returns the removed mark. */
MUST_CHECK enum err layout_mark_take(struct ctx *ctx, struct store_txn *txn,
                                     const struct event *event,
                                     const struct key_fingerprint *fingerprint,
                                     struct layout_head_record *head, struct layout_mark *ret_mark);

#endif
