/*
 * guideline_service.c: GuidelineService, except votes (guideline_votes.c), drafts (generate_proposal.c) and prompts
 * (build_agent_prompt.c).
 */
#include "server/domain/guidelines/conflict_check.h"
#include "server/domain/guidelines/proposals.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "server/pipeline/texts.h"
#include "store/base/assert.h"

#include <errata/v1/guideline_service.handlers.h>
#include <errata/v1/guideline_service.views.h>

static enum err read_proposal(struct guideline_service_propose_guideline_call *call,
                              struct proposal_input *input)
{
    const Errata__V1__Proposal *given = call->request->proposal;
    const struct slice *agents = NULL;
    struct uuid *replaces =
        arena_calloc(call->ctx->arena, given->n_replaces_guideline_ids + 1, sizeof(*replaces));
    enum err err =
        texts_copy(call->ctx->arena, given->affected_agents, given->n_affected_agents, &agents);

    if (err == OK && replaces == NULL) {
        err = ERR_MEMORY;
    }
    for (size_t i = 0; i < given->n_replaces_guideline_ids && err == OK; i++) {
        if (UNEXPECTED(!uuid_parse(slice_text(given->replaces_guideline_ids[i]), &replaces[i]))) {
            err = ERR_INTERNAL; /* check_request has refused such a request */
        }
    }
    *input = (struct proposal_input){
        .org = call->org,
        .caller = caller_of(call->service),
        .agents = agents,
        .agent_count = given->n_affected_agents,
        .insertion_point = slice_text(given->insertion_point),
        .replaces = replaces,
        .replaces_count = given->n_replaces_guideline_ids,
        .rule_content = slice_text(given->rule_content),
        .evidence_summary = slice_text(given->evidence_summary),
    };
    if (err == OK &&
        UNEXPECTED(!rule_type_from_wire((int32_t)given->rule_type, &input->rule_type))) {
        err = ERR_INTERNAL; /* check_request has refused such a request */
    }
    return err;
}

enum err
guideline_service_propose_guideline_write(struct guideline_service_propose_guideline_call *call)
{
    struct proposal_input input;
    enum err err = read_proposal(call, &input);

    if (err == OK) {
        err = proposal_create(call->ctx, call->txn, &input, &call->result->first_seq);
    }
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err
guideline_service_propose_guideline_answer(struct guideline_service_propose_guideline_call *call)
{
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK && event.kind != EVENT_PROPOSAL_CREATED) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = proposal_put_event(call->ctx->arena, call->txn, &event,
                                 PROPOSE_GUIDELINE_RESPONSE_PROPOSAL_FIELD, call->body);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err guideline_service_check_conflicts_read(struct guideline_service_check_conflicts_call *call)
{
    const Errata__V1__CheckConflictsRequest *request = call->request;
    struct found_conflicts *found = arena_alloc(call->ctx->arena, sizeof(*found));
    struct conflict_query query = {
        .org = call->org,
        .rule = slice_text(request->rule_content),
        .agent_count = request->n_affected_agents,
    };
    const struct slice *agents = NULL;
    enum err err =
        texts_copy(call->ctx->arena, request->affected_agents, request->n_affected_agents, &agents);

    rule_content_check(call->ctx, SLICE("rule_content"), query.rule);
    if (request->n_affected_agents == 0) {
        fault_add(call->ctx->fault, SLICE("affected_agents"),
                  "empty; expected 1 to %d names of agents", PROPOSAL_AGENTS_MAX);
    }
    if (err == OK) {
        err = found == NULL ? ERR_MEMORY : fault_result(call->ctx->fault);
    }
    query.agents = agents;
    if (err == OK) {
        err = conflicts_find(call->ctx->arena, call->txn, &query, found);
    }
    if (err == OK) {
        conflicts_put(found, CHECK_CONFLICTS_RESPONSE_CONFLICTS_FIELD, call->body);
    }
    return err;
}

enum err guideline_service_get_proposal_read(struct guideline_service_get_proposal_call *call)
{
    struct proposal proposal;
    struct uuid id;
    enum err err = ERR_NOT_FOUND;

    if (uuid_parse(slice_text(call->request->id), &id)) {
        err = proposal_find(call->txn, call->org, id, &proposal);
    }
    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "id: not found in this organisation; expected the id of a proposal");
    }
    if (err == OK) {
        err = proposal_put(call->ctx->arena, call->txn, &proposal,
                           GET_PROPOSAL_RESPONSE_PROPOSAL_FIELD, call->body);
    }
    return err != OK || proposal_status_of(&proposal.record) != PROPOSAL_STATUS_APPROVED
               ? err
               : guideline_put(call->txn, &proposal, GET_PROPOSAL_RESPONSE_GUIDELINE_FIELD,
                               call->body);
}

enum err guideline_service_list_pending_proposals_read(
    struct guideline_service_list_pending_proposals_call *call)
{
    struct proposal_list list = {
        .org = call->org, .agent = slice_text(call->request->agent_name), .page = call->page};
    struct proposal proposal;
    enum err err = proposal_list_begin(call->txn, &list);

    while (err == OK) {
        err = proposal_list_next(call->txn, &list, &proposal);
        if (err == OK) {
            err = proposal_put(call->ctx->arena, call->txn, &proposal,
                               LIST_PENDING_PROPOSALS_RESPONSE_PROPOSALS_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err guideline_service_list_active_guidelines_read(
    struct guideline_service_list_active_guidelines_call *call)
{
    struct proposal_list list = {
        .org = call->org, .agent = slice_text(call->request->agent_name), .page = call->page};
    struct proposal proposal;
    enum err err = guideline_list_begin(call->txn, &list);

    while (err == OK) {
        err = guideline_list_next(call->txn, &list, &proposal);
        if (err == OK) {
            err = guideline_put(call->txn, &proposal,
                                LIST_ACTIVE_GUIDELINES_RESPONSE_GUIDELINES_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err
guideline_service_retire_guideline_write(struct guideline_service_retire_guideline_call *call)
{
    struct guideline_retirement retirement = {
        .org = call->org,
        .caller = caller_of(call->service),
        .reason = slice_text(call->request->reason),
    };
    enum err err = OK;

    if (UNEXPECTED(
            !uuid_parse(slice_text(call->request->guideline_id), &retirement.guideline_id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = guideline_retire(call->ctx, call->txn, &retirement, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

/* A guideline never changes after it was retired, so its row gives the same response again. */
enum err
guideline_service_retire_guideline_answer(struct guideline_service_retire_guideline_call *call)
{
    struct guideline_retired_view retired;
    struct proposal proposal;
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK && event.kind != EVENT_GUIDELINE_RETIRED) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = guideline_retired_view_read(event.facts, &retired);
    }
    if (err == OK) {
        err = proposal_read(call->txn, call->result->org, retired.proposal_seq, &proposal);
    }
    if (err == OK) {
        err = guideline_put(call->txn, &proposal, RETIRE_GUIDELINE_RESPONSE_GUIDELINE_FIELD,
                            call->body);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
