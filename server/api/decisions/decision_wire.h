/*
 * decision_wire.h: shared by the handlers of DecisionService.
 */
#ifndef ERRATA_SERVER_API_DECISIONS_DECISION_WIRE_H
#define ERRATA_SERVER_API_DECISIONS_DECISION_WIRE_H

#include "server/domain/decisions/decisions.h"

/* Finds a decision by the server's id. ERR_NOT_FOUND with a message. */
MUST_CHECK enum err decision_find_feedback(struct ctx *ctx, struct store_txn *txn,
                                           struct org_id org, const char *feedback_id,
                                           uint64_t *ret_seq);

#endif
