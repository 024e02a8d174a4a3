/*
 * gate.h: the only way by which a proposal becomes a guideline. It decides every vote of every
 * caller: in the transaction of the vote it checks the voter, contradictions, the number of
 * different people who approved, and the capacity. No other code appends an event that completes a
 * proposal.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_GATE_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_GATE_H

#include "server/domain/guidelines/proposals.h"

/* Maximum contradictions that an approval may acknowledge. */
#define GATE_ACKNOWLEDGED_MAX 20

/* A person's action on a proposal. */
struct proposal_vote_request {
    struct org_id org;
    struct event_caller caller;
    enum proposal_vote_kind kind;
    struct uuid proposal_id;
    struct slice approver_id; /* user of the caller, or empty */
    const struct uuid *acknowledged;
    size_t acknowledged_count; /* at most GATE_ACKNOWLEDGED_MAX */
    struct uuid retire_id; /* nil: none */
    struct slice reason; /* reason of a rejection */
};

/* Decides, appends and applies a vote. The refusal of a vote is explained in ctx->fault, and nothing is stored. */
MUST_CHECK enum err guideline_gate(struct ctx *ctx, struct store_txn *txn,
                                   const struct proposal_vote_request *request, uint64_t *ret_seq);

#endif
