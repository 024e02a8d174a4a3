/*
 * outcomes.h: describes, for explanations and reports, an outcome that cited an exposure, and an
 * event that an artifact was learned from.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEARNING_OUTCOMES_H
#define ERRATA_SERVER_DOMAIN_LEARNING_OUTCOMES_H

#include "server/domain/artifacts/evidence.h"
#include "store/base/ctx.h"
#include "store/log.h"

#include <errata/v1/learning_service.views.h>

/* Describes an event that is an outcome: who acted, on which document, and whether that extraction
 * was corrected since. Slices are borrowed from the transaction or from ctx's arena. ERR_CORRUPT if
 * the event is not an outcome. */
MUST_CHECK enum err outcome_describe(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     uint64_t seq, struct exposure_outcome_view *ret_view);

/* Describes an event that an artifact was learned from; `retraction_seq` is 0 if it was not retracted. Slices are borrowed
 * from the transaction. ERR_CORRUPT for an unknown number. */
MUST_CHECK enum err evidence_describe(struct store_txn *txn, struct org_id org,
                                      const struct artifact_evidence_item *item,
                                      struct evidence_event_view *ret_view);

#endif
