/*
 * evidence.h: the decisions that proposals and guidelines were drafted from, when one of them is retracted.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_EVIDENCE_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_EVIDENCE_H

#include "server/domain/guidelines/proposals.h"

/* Subtracts a retracted decision from the evidence of pending proposals and of guidelines in effect, for apply; of both, the
 * first GUIDELINE_ROWS_MAX are examined. A proposal without evidence left is rejected; a guideline stays in effect. */
MUST_CHECK enum err evidence_retract(struct ctx *ctx, struct store_txn *txn,
                                     const struct event *retraction, struct uuid decision_id);

#endif
