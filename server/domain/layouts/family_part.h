/*
 * family_part.h: SplitFamily with documents: moves documents of a family, their examples and their sketches into a new
 * family. The event records the ids of the documents and the keys of all sketches that change families; counts and times
 * are computed from the rows, for the decision and for apply alike.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_PART_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_PART_H

#include "server/domain/layouts/family_change.h"

#include <errata/payload/payload.views.h>

/* Maximum documents that one split moves: it rewrites about five rows for each of them. */
#define FAMILY_PART_DOCUMENTS_MAX 1000
/* Feedback events of these documents, each of which is read: about 20 ms of one write. */
#define FAMILY_PART_EVENTS_MAX 10000

/* Decides a split by documents: family_split (family_change.h) if `change` has documents. */
MUST_CHECK enum err family_part(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                const struct family_split *change, uint64_t *ret_seq);
/* Writes the rows of such an event. */
MUST_CHECK enum err family_part_apply(struct ctx *ctx, struct store_txn *txn,
                                      const struct event *event,
                                      const struct family_split_view *facts,
                                      const struct family_split_internal_view *internal);

#endif
