/*
 * explain.h: what an exposure served, made again from its artifacts: each as it was after the event up to which the
 * exposure could know, its evidence, and the learned part of the text. An exposure names its artifacts by number and
 * version, so nothing that was stored since changes the explanation. Long: for the pool.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEARNING_EXPLAIN_H
#define ERRATA_SERVER_DOMAIN_LEARNING_EXPLAIN_H

#include "server/domain/exposures/exposures.h"
#include "server/domain/mappings/match.h"
#include "server/domain/prompts/prompts.h"

/* Events of one artifact that are listed: more than people read. */
#define EXPLAIN_EVIDENCE_MAX 20
/* Outcomes of one exposure that are listed: a prompt that is made once may serve for years. */
#define EXPLAIN_OUTCOMES_MAX 100

/* What to explain. Borrowed for the length of the call. */
struct explain_query {
    struct org_id org;
    const struct exposure_key *key;
    struct slice exposure_ref; /* empty: the exposure that the event `exposure_id` recorded */
    struct uuid exposure_id;
    struct prompt_query *prompt; /* the rest of the prompt; NULL: not given */
    struct match *match; /* the lines; NULL: not given */
};

/* Appends the wire bytes of an ExplainExposureResponse. ERR_INVALID for a reference that this server did not make for
 * the organisation, and for inputs that make no prompt; ERR_NOT_FOUND for an id that is not of an exposure. */
MUST_CHECK enum err exposure_explain(struct ctx *ctx, struct store_txn *txn,
                                     const struct explain_query *query, struct buffer *body);

#endif
