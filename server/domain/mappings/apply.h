/*
 * apply.h: what stored events mean for the tables of mappings. Rows are copied from what the event
 * tells (change.h); what a mapping is confirmed for, and the blocks that similar SKUs are found by,
 * follow its status. It depends on the event and the tables alone.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_APPLY_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_APPLY_H

#include "store/log.h"

/* Takes EVENT_FEEDBACK (those that MappingService stored), EVENT_MAPPING_SUGGESTED and
 * EVENT_MAPPING_APPLIED; other events change nothing here. The event's slices are not the
 * transaction's, since this puts. */
MUST_CHECK enum err mappings_apply(struct ctx *ctx, struct store_txn *txn,
                                   const struct event *event);

#endif
