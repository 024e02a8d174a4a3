/*
 * explain.h: explains what an exposure served: rebuilds each artifact as it was after the last
 * event that was stored at that time, its evidence, and the learned part of the text. An exposure
 * names its artifacts by number and version, so later events do not change the explanation. It
 * takes long and must run on the pool.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEARNING_EXPLAIN_H
#define ERRATA_SERVER_DOMAIN_LEARNING_EXPLAIN_H

#include "server/domain/exposures/exposures.h"
#include "server/domain/guidelines/agent_prompt.h"
#include "server/domain/mappings/match.h"
#include "server/domain/prompts/prompts.h"
#include "server/domain/reviews/placeholders.h"
#include "server/domain/turns/strategies.h"

/* Maximum events of one artifact that are listed, more than people read. */
#define EXPLAIN_EVIDENCE_MAX 20
/* Maximum outcomes of one exposure that are listed; a prompt that is rendered once may be used for
 * years. */
#define EXPLAIN_OUTCOMES_MAX 100

/* The exposure to explain. Borrowed for the duration of the call. */
struct explain_query {
    struct org_id org;
    const struct exposure_key *key;
    struct slice exposure_ref; /* empty: the exposure that the event `exposure_id` recorded */
    struct uuid exposure_id;
    struct prompt_query *prompt; /* the rest of the prompt; NULL: not given */
    struct match *match; /* the lines; NULL: not given */
    struct placeholders_request *placeholders; /* the prompts to fill; NULL: not given */
    struct strategy_query *strategies; /* the search, without its time; NULL: not given */
    const struct slice *base_prompt; /* the rest of an agent's prompt; NULL: not given */
};

/* Appends the wire bytes of an ExplainExposureResponse. Returns ERR_INVALID for a reference that
 * this server did not issue for the organisation, and for inputs from which no prompt can be
 * rendered; ERR_NOT_FOUND for an id that is not of an exposure. */
MUST_CHECK enum err exposure_explain(struct ctx *ctx, struct store_txn *txn,
                                     const struct explain_query *query, struct buffer *body);

#endif
