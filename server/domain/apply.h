/*
 * apply.h: what any stored event means for the tables, whatever capability it belongs to: the one
 * function that a replay of the log calls for each event, behind log_apply_envelope.
 */
#ifndef ERRATA_SERVER_DOMAIN_APPLY_H
#define ERRATA_SERVER_DOMAIN_APPLY_H

#include "store/log.h"

/* ERR_CORRUPT for a kind that this version does not know. */
MUST_CHECK enum err domain_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event);

#endif
