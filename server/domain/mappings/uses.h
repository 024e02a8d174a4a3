/*
 * uses.h: what a cited answer of MatchLines counts: each mapping that it applied was used for so many
 * lines. One event for a reference and draft order, however often, and by whichever method, that is
 * told; a reference whose list stands as its hash counts no mapping, but its event is there.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_USES_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_USES_H

#include "server/domain/exposures/exposures.h"
#include "store/log.h"

#include <errata/v1/learning_service.fields.h>

/* The event of an outcome that told of this exposure and draft order before (the empty text: of no
 * draft order). ERR_NOT_FOUND: none did. Appends nothing. */
MUST_CHECK enum err mapping_uses_find(struct store_txn *txn, struct org_id org,
                                      const struct cited_exposure *cited,
                                      struct slice draft_order_id, uint64_t *ret_seq);
/* Appends and applies the event that counts the uses, of an exposure of kind MATCHES that stands in
 * the log (exposure_record); or finds the one that counted them before. `citer` is for the envelope.
 * For RecordMatches, and for RecordExtraction of each MATCHES reference that it cites. */
MUST_CHECK enum err mapping_uses_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                       const struct exposure_citer *citer,
                                       const struct cited_exposure *cited,
                                       struct slice draft_order_id, uint64_t *ret_seq);
/* How many mappings an EVENT_MAPPING_APPLIED counted the uses of. */
MUST_CHECK enum err mapping_uses_count(const struct event *event, uint32_t *ret_count);

#endif
