/*
 * outcomes.h: an outcome that cited an exposure, as explanations and reports describe it.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEARNING_OUTCOMES_H
#define ERRATA_SERVER_DOMAIN_LEARNING_OUTCOMES_H

#include "store/base/ctx.h"
#include "store/log.h"

#include <errata/v1/learning_service.views.h>

/* Describes the outcome that an event is: who acted, on which document, and whether that extraction was corrected since.
 * Slices are borrowed from the transaction or from ctx's arena. ERR_CORRUPT for a number of no outcome. */
MUST_CHECK enum err outcome_describe(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     uint64_t seq, struct exposure_outcome_view *ret_view);

#endif
