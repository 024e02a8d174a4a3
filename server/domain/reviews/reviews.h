/*
 * reviews.h: structured reviews of runs. A write appends one event; its review is added to the history of its run, from
 * which windows, triggers and the state of the run are computed.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_REVIEWS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_REVIEWS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/reviews/history.h"

#include <errata/v1/review.fields.h>

/* Maximum references of a review. */
#define REVIEW_REFERENCES_MAX 16

/* The values of a request. Empty slices are absent. Borrowed for the duration of the call. */
struct review_input {
    struct slice reviewed_by;
    struct slice run_id;
    struct slice item_id;
    struct slice subcategory;
    enum review_decision decision;
    struct slice state;
    enum review_answer flags[REVIEW_FLAG_COUNT];
    struct slice missing_spec; /* from review_specs_normalise */
    enum annotator_kind annotator_kind;
    struct event_time time;
    struct slice notes;
    struct slice item_snapshot_json;
    const struct slice *exposure_refs;
    size_t exposure_ref_count; /* at most REVIEW_REFERENCES_MAX */
};

/* The caller and the review. */
struct review_request {
    struct org_id org;
    struct event_caller caller;
    const struct review_input *input;
    const struct exposure_key *key; /* key that signs the references */
};

/* Decides, appends and applies; the events of exposures come first; `ret_seq` is the event of the
 * review. ERR_INVALID for an invalid time or reference, ERR_DENIED if the caller lacks a
 * permission, ERR_PRECONDITION if the run has REVIEWS_OF_RUN_MAX reviews. */
MUST_CHECK enum err review_submit(struct ctx *ctx, struct store_txn *txn,
                                  const struct review_request *request, uint64_t *ret_seq);

#endif
