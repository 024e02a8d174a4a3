/*
 * gate.h: the only way by which a proposal becomes a guideline. Every vote passes it, whoever calls: it checks in the
 * transaction of the vote who votes, what the rule contradicts, how many different people approved, and whether there is
 * room. Nothing else appends an event that completes a proposal.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_GATE_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_GATE_H

#include "server/domain/guidelines/proposals.h"

/* Contradictions that an approval may acknowledge. */
#define GATE_ACKNOWLEDGED_MAX 20

/* What a person does to a proposal. */
struct proposal_vote_request {
    struct org_id org;
    struct event_caller caller;
    enum proposal_vote_kind kind;
    struct uuid proposal_id;
    struct slice approver_id; /* the caller's user, or empty */
    const struct uuid *acknowledged;
    size_t acknowledged_count; /* at most GATE_ACKNOWLEDGED_MAX */
    struct uuid retire_id; /* nil: none */
    struct slice reason; /* reason of a rejection */
};

/* Decides, appends and applies a vote. A refused one is explained in ctx->fault, and nothing is stored. */
MUST_CHECK enum err guideline_gate(struct ctx *ctx, struct store_txn *txn,
                                   const struct proposal_vote_request *request, uint64_t *ret_seq);

#endif
