/*
 * decision_wire.h: shared by the handlers of DecisionService.
 */
#ifndef ERRATA_SERVER_API_DECISIONS_DECISION_WIRE_H
#define ERRATA_SERVER_API_DECISIONS_DECISION_WIRE_H

#include "server/domain/decisions/decisions.h"
#include "store/work.h"

/* Finds a decision by the server's id. ERR_NOT_FOUND with a message. */
MUST_CHECK enum err decision_find_feedback(struct ctx *ctx, struct store_txn *txn,
                                           struct org_id org, const char *feedback_id,
                                           uint64_t *ret_seq);
/* Finds the decision among the events of a write: the exposures that it cites come before it. Slices of the view are
 * borrowed from the transaction. ERR_CORRUPT if there is none. */
MUST_CHECK enum err decision_find_recorded(struct store_txn *txn, const struct work_result *result,
                                           uint64_t *ret_seq, struct decision_view *ret_view);

#endif
