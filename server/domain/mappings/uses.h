/*
 * uses.h: counts the uses of mappings for a cited response of MatchLines: for each applied mapping,
 * the number of lines. There is one event for each reference and draft order (or, without one,
 * document), regardless of how often and by which method it is cited. A reference whose list was
 * replaced by its hash has an event, but counts no mapping.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_USES_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_USES_H

#include "server/domain/events/actor.h"
#include "server/domain/exposures/exposures.h"
#include "store/work.h"

#include <errata/v1/event.fields.h>

/* A cited response of kind MATCHES, and the outcome for which it is cited. */
struct mapping_citation {
    struct org_id org;
    const struct exposure_citer *citer; /* caller, for the envelope of the event */
    const struct cited_exposure *cited; /* exposure that is in the log (exposure_record) */
    struct slice draft_order_id; /* empty: not given */
    struct slice document_id; /* subject of the outcome if no draft order is named; or empty */
};

/* An outcome that cites a response of MatchLines. Slices are borrowed for the duration of the
 * call. */
struct matches_outcome {
    struct org_id org;
    const struct event_caller *caller;
    const struct exposure_key *key;
    struct slice exposure_ref;
    struct slice draft_order_id; /* empty: not given */
    struct slice actor_user_id;
    struct event_time time;
};

/* Records the exposure, if no outcome cited it before, and counts its uses, unless an outcome for
 * the same draft order did. `ret_result` has the events; the last is the one that counted. Returns
 * ERR_INVALID for a reference that is not of a response of MatchLines to this organisation, and for
 * an invalid time; ERR_DENIED for an actor or time that the caller may not set. */
MUST_CHECK enum err mapping_record_matches(struct ctx *ctx, struct store_txn *txn,
                                           const struct matches_outcome *outcome,
                                           struct work_result *ret_result);
/* Appends and applies the event that counts the uses; or finds the one that counted them before. For
 * RecordMatches, and for RecordExtraction of each MATCHES reference that it cites. */
MUST_CHECK enum err mapping_uses_store(struct ctx *ctx, struct store_txn *txn,
                                       const struct mapping_citation *citation, uint64_t *ret_seq);
/* Subtracts the counts of an EVENT_MAPPING_APPLIED: the uses of the mappings and of the day, and
 * the outcome. For apply of an extraction that replaces the one with which the event was recorded.
 * `last_used_at` is unchanged, unless no use is left. */
MUST_CHECK enum err mapping_uses_undo(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                      uint64_t seq);
/* Returns the number of mappings whose uses an EVENT_MAPPING_APPLIED counted. */
MUST_CHECK enum err mapping_uses_count(const struct event *event, uint32_t *ret_count);
/* Applies an EVENT_MAPPING_APPLIED: counts the uses of the mappings and of the day, and keeps the outcome
 * of the exposure. For mappings_apply only. */
MUST_CHECK enum err mapping_uses_apply(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event);

#endif
