/*
 * guideline_votes.c: GuidelineService: votes about proposals. Each vote passes the gate (domain/guidelines/gate.h).
 */
#include "server/domain/guidelines/gate.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/guideline_service.handlers.h>
#include <errata/v1/guideline_service.views.h>

/* Reads the ids of a request; check_request has checked their form. */
static enum err read_ids(struct arena *arena, char *const *texts, size_t count,
                         struct uuid **ret_ids)
{
    struct uuid *ids = arena_calloc(arena, count + 1, sizeof(*ids));

    if (ids == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        if (UNEXPECTED(!uuid_parse(slice_text(texts[i]), &ids[i]))) {
            return ERR_INTERNAL;
        }
    }
    *ret_ids = ids;
    return OK;
}

static enum err read_approval(const struct service *service, struct org_id org,
                              const Errata__V1__ApproveProposalRequest *request,
                              struct proposal_vote_request *ret_vote)
{
    struct uuid *acknowledged = NULL;
    enum err err = read_ids(service->ctx->arena, request->acknowledged_guideline_ids,
                            request->n_acknowledged_guideline_ids, &acknowledged);

    *ret_vote = (struct proposal_vote_request){
        .org = org,
        .caller = caller_of(service),
        .kind = PROPOSAL_VOTE_KIND_APPROVED,
        .approver_id = slice_text(request->approver_id),
        .acknowledged = acknowledged,
        .acknowledged_count = request->n_acknowledged_guideline_ids,
    };
    if (err != OK) {
        return err;
    }
    if (UNEXPECTED(!uuid_parse(slice_text(request->proposal_id), &ret_vote->proposal_id)) ||
        (slice_text(request->retire_guideline_id).size > 0 &&
         UNEXPECTED(!uuid_parse(slice_text(request->retire_guideline_id), &ret_vote->retire_id)))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    return OK;
}

/* Responds with the proposal after the written vote. */
static enum err answer(struct ctx *ctx, struct store_txn *txn, const struct work_result *result,
                       uint32_t field, struct buffer *body)
{
    struct event event;
    enum err err = log_read(txn, result->org, result->first_seq, &event);

    if (err == OK && event.kind != EVENT_PROPOSAL_VOTED) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = proposal_put_event(ctx->arena, txn, &event, field, body);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err
guideline_service_approve_proposal_write(struct guideline_service_approve_proposal_call *call)
{
    struct proposal_vote_request vote;
    enum err err = read_approval(call->service, call->org, call->request, &vote);

    if (err == OK) {
        err = guideline_gate(call->ctx, call->txn, &vote, &call->result->first_seq);
    }
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err
guideline_service_approve_proposal_answer(struct guideline_service_approve_proposal_call *call)
{
    return answer(call->ctx, call->txn, call->result, APPROVE_PROPOSAL_RESPONSE_PROPOSAL_FIELD,
                  call->body);
}

/* Returns whether other approvals may succeed although one was refused. */
static bool is_refusal(enum err err)
{
    return err == ERR_PRECONDITION || err == ERR_NOT_FOUND || err == ERR_DENIED;
}

/* The first refusal is reported if no approval is stored. */
enum err
guideline_service_approve_proposals_write(struct guideline_service_approve_proposals_call *call)
{
    const Errata__V1__ApproveProposalsRequest *request = call->request;
    struct log_head before;
    enum err first_refusal = OK;
    enum err err = log_read_head(call->txn, call->org, &before);

    if (request->n_approvals == 0) {
        fault_add(call->ctx->fault, SLICE("approvals"), "empty; expected 1 to 50 approvals");
        return fault_result(call->ctx->fault);
    }
    for (size_t i = 0; i < request->n_approvals && err == OK; i++) {
        struct proposal_vote_request vote;
        uint64_t seq = 0;

        err = read_approval(call->service, call->org, request->approvals[i], &vote);
        if (err == OK) {
            err = guideline_gate(call->ctx, call->txn, &vote, &seq);
        }
        if (err == OK) {
            call->result->count++;
        } else if (is_refusal(err)) {
            first_refusal = first_refusal == OK ? err : first_refusal;
            err = OK;
        }
    }
    if (err == OK && call->result->count == 0) {
        err = first_refusal;
    }
    call->result->first_seq = before.last_seq + 1;
    return err;
}

enum err
guideline_service_approve_proposals_answer(struct guideline_service_approve_proposals_call *call)
{
    enum err err = OK;

    for (uint32_t i = 0; i < call->result->count && err == OK; i++) {
        struct proposal_voted_view vote;
        struct event event;

        err = log_read(call->txn, call->result->org, call->result->first_seq + i, &event);
        if (err == OK && event.kind != EVENT_PROPOSAL_VOTED) {
            err = ERR_CORRUPT;
        }
        if (err == OK) {
            err = proposal_voted_view_read(event.facts, &vote);
        }
        if (err == OK) {
            const struct proposal_approval_view view = {
                .proposal_id = vote.proposal_id,
                .status = vote.completed ? PROPOSAL_STATUS_APPROVED : PROPOSAL_STATUS_PENDING,
            };

            proposal_approval_view_put(&view, APPROVE_PROPOSALS_RESPONSE_APPROVALS_FIELD,
                                       call->body);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err
guideline_service_reject_proposal_write(struct guideline_service_reject_proposal_call *call)
{
    struct proposal_vote_request vote = {
        .org = call->org,
        .caller = caller_of(call->service),
        .kind = PROPOSAL_VOTE_KIND_REJECTED,
        .approver_id = slice_text(call->request->approver_id),
        .reason = slice_text(call->request->reason),
    };
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->proposal_id), &vote.proposal_id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = guideline_gate(call->ctx, call->txn, &vote, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err
guideline_service_reject_proposal_answer(struct guideline_service_reject_proposal_call *call)
{
    return answer(call->ctx, call->txn, call->result, REJECT_PROPOSAL_RESPONSE_PROPOSAL_FIELD,
                  call->body);
}

enum err guideline_service_retract_vote_write(struct guideline_service_retract_vote_call *call)
{
    struct proposal_vote_request vote = {
        .org = call->org,
        .caller = caller_of(call->service),
        .kind = PROPOSAL_VOTE_KIND_RETRACTED,
        .approver_id = slice_text(call->request->approver_id),
    };
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->proposal_id), &vote.proposal_id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = guideline_gate(call->ctx, call->txn, &vote, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err guideline_service_retract_vote_answer(struct guideline_service_retract_vote_call *call)
{
    return answer(call->ctx, call->txn, call->result, RETRACT_VOTE_RESPONSE_PROPOSAL_FIELD,
                  call->body);
}
