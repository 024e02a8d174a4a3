/*
 * generation.h: drafts proposals of rules from clusters of decisions. A cluster never gets more
 * than one proposal: this is decided in the transaction, by the row that the proposal puts. A draft
 * is a pending proposal like any other; only votes at the gate (server/domain/guidelines/gate.h)
 * make it a guideline.
 */
#ifndef ERRATA_SERVER_DOMAIN_GENERATION_GENERATION_H
#define ERRATA_SERVER_DOMAIN_GENERATION_GENERATION_H

#include "server/domain/decisions/clusters.h"
#include "server/domain/guidelines/proposals.h"

/* Maximum clusters that one step of a batch examines; other writes run between steps. */
#define GENERATION_CLUSTERS_MAX 200
/* Maximum proposals that one call of a batch makes. */
#define GENERATION_PROPOSALS_MAX 10
/* The proposer of proposals that no person proposed. */
#define GENERATION_PROPOSER "errata"

/* A person's or program's choice of evidence: a list of decisions, or one, which represents its cluster. */
struct generation_request {
    struct org_id org;
    struct event_caller caller;
    const uint64_t *decision_seqs;
    size_t decision_count; /* 1 to PROPOSAL_EVIDENCE_MAX */
};

/* Drafts a proposal. ERR_EXISTS naming the proposal if the cluster has one, ERR_PRECONDITION if the
 * class in effect of all decisions is POSITIVE or AMBIGUOUS, or if none of their comments can be a
 * rule. */
MUST_CHECK enum err generation_draft(struct ctx *ctx, struct store_txn *txn,
                                     const struct generation_request *request, uint64_t *ret_seq);

/* The position of a batch. Zero it before the start. */
struct generation_batch {
    struct org_id org;
    struct event_caller caller; /* zeroed: the server itself */
    uint64_t before_seq; /* clusters that began before this event are examined; 0: all */
    bool has_clusters_ended; /* every cluster was examined; guidelines follow */
    uint64_t after_guideline; /* guidelines whose proposal is after this event are examined */
    bool has_ended; /* every guideline was examined, too */
};

/* Examines the next clusters, and drafts at most one proposal; after them the next guideline in effect, and proposes its
 * sunset if it changed nothing (sunset.h). `ret_seq` is the event of either; 0 if there was nothing to propose. */
MUST_CHECK enum err generation_step(struct ctx *ctx, struct store_txn *txn,
                                    struct generation_batch *batch, uint64_t *ret_seq);
/* Drafts an expedited proposal of the cluster of a decision that was just recorded, if its class is GENERALIZABLE_HIGH
 * with a confidence of EVALUATOR_EXPEDITED_CONFIDENCE, and the cluster has none; otherwise `ret_seq` is 0. */
MUST_CHECK enum err generation_expedite(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                        const struct event_caller *caller, uint64_t decision_seq,
                                        uint64_t *ret_seq);

#endif
