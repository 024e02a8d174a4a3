/*
 * uses_apply.h: what an EVENT_MAPPING_APPLIED means for the tables: uses of mappings, the day's counter,
 * and the outcome of the exposure that it tells of.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_USES_APPLY_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_USES_APPLY_H

#include "store/log.h"

MUST_CHECK enum err mapping_uses_apply(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event);

#endif
