/*
 * citations.h: the prompts that a review cites. For each, the review records which of its signals
 * it gives again; this measures the wording and the item of such prompts, once for each run.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_CITATIONS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_CITATIONS_H

#include "server/domain/reviews/reviews.h"

#include <errata/v1/review.views.h>

struct review_citations {
    struct cited_exposure items[REVIEW_REFERENCES_MAX]; /* each reference occurs once */
    bool is_measured[REVIEW_REFERENCES_MAX]; /* no review of the run cited it before */
    size_t count;
};

/* Reads all references of a request. Adds references that this server did not issue for prompts of the organisation to
 * ctx->fault. */
MUST_CHECK enum err review_citations_read(struct ctx *ctx, struct store_txn *txn,
                                          const struct review_request *request,
                                          struct review_citations *citations);
/* Sets the member of a review that describes its references, after they were recorded; its flags must be set. */
MUST_CHECK enum err review_citations_encode(struct arena *arena,
                                            const struct review_citations *citations,
                                            struct review_view *view);
/* Counts (sign 1), or subtracts (-1), the outcomes of a review, for apply. */
MUST_CHECK enum err review_citations_count(struct ctx *ctx, struct store_txn *txn,
                                           const struct event *event,
                                           const struct review_view *view, int sign);

#endif
