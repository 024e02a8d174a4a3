/*
 * citations.h: the exposures of prompts that a decision cites. The decision is an outcome of their guidelines, a bad one
 * unless it is APPROVED.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_CITATIONS_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_CITATIONS_H

#include "server/domain/decisions/decisions.h"

struct decision_citations {
    struct cited_exposure items[DECISION_REFERENCES_MAX]; /* each reference once */
    size_t count;
};

/* Reads the references of a request. Adds those that this server did not issue for prompts of agents of the organisation to
 * ctx->fault. */
MUST_CHECK enum err decision_citations_read(struct ctx *ctx, struct store_txn *txn,
                                            const struct decision_request *request,
                                            struct decision_citations *ret_citations);
/* Sets the member of a decision that is about its references, after they were recorded. */
MUST_CHECK enum err decision_citations_encode(struct arena *arena,
                                              const struct decision_citations *citations,
                                              struct decision_view *view);
/* Counts (sign 1), or subtracts (-1), a decision as an outcome of its exposures, for apply. */
MUST_CHECK enum err decision_citations_count(struct ctx *ctx, struct store_txn *txn,
                                             const struct event *event,
                                             const struct decision_view *view, int sign);

#endif
