/*
 * generate_proposal.c: GenerateProposal of GuidelineService.
 */
#include "server/domain/decisions/decisions.h"
#include "server/domain/generation/generation.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/guideline_service.handlers.h>
#include <errata/v1/guideline_service.views.h>

/* Maximum steps of the batch in one call. */
#define STEPS_MAX 60

/* Runs the batch. */
static enum err run_batch(struct guideline_service_generate_proposal_call *call)
{
    struct generation_batch batch = {.org = call->org, .caller = caller_of(call->service)};
    struct work_result *result = call->result;
    enum err err = OK;

    for (size_t i = 0;
         i < STEPS_MAX && err == OK && !batch.has_ended && result->count < GENERATION_PROPOSALS_MAX;
         i++) {
        uint64_t seq = 0;

        err = generation_step(call->ctx, call->txn, &batch, &seq);
        if (err == OK && seq != 0) {
            result->first_seq = result->count == 0 ? seq : result->first_seq;
            result->count++;
        }
    }
    return err;
}

/* Finds the decisions of the request. */
static enum err find_decisions(struct guideline_service_generate_proposal_call *call,
                               uint64_t *seqs)
{
    const Errata__V1__GenerateProposalRequest *request = call->request;

    for (size_t i = 0; i < request->n_feedback_ids; i++) {
        enum err err =
            decision_find_id(call->txn, call->org, slice_text(request->feedback_ids[i]), &seqs[i]);

        if (err == ERR_NOT_FOUND) {
            return fault_say(call->ctx->fault, err,
                             "feedback_ids[%zu]: not found in this organisation; expected the id "
                             "of a decision",
                             i);
        }
        if (err != OK) {
            return err;
        }
    }
    return OK;
}

enum err
guideline_service_generate_proposal_write(struct guideline_service_generate_proposal_call *call)
{
    size_t count = call->request->n_feedback_ids;
    uint64_t *seqs = arena_calloc(call->ctx->arena, count + 1, sizeof(*seqs));
    const struct generation_request request = {.org = call->org,
                                               .caller = caller_of(call->service),
                                               .decision_seqs = seqs,
                                               .decision_count = count};
    enum err err = seqs != NULL ? OK : ERR_MEMORY;

    call->result->count = 0;
    if (err != OK || count == 0) {
        return err != OK ? err : run_batch(call);
    }
    err = find_decisions(call, seqs);
    if (err == OK) {
        err = generation_draft(call->ctx, call->txn, &request, &call->result->first_seq);
    }
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

/* Names a guideline whose sunset was proposed. */
static enum err put_sunset(struct guideline_service_generate_proposal_call *call,
                           const struct event *event)
{
    struct guideline_sunset_proposed_view facts;
    char text[UUID_TEXT_BYTES];
    enum err err = guideline_sunset_proposed_view_read(event->facts, &facts);

    if (err == OK) {
        uuid_format(facts.guideline_id, text);
        wire_put_bytes(call->body, GENERATE_PROPOSAL_RESPONSE_SUNSET_GUIDELINE_IDS_FIELD,
                       slice_of(text, UUID_TEXT_BYTES));
    }
    return err;
}

enum err
guideline_service_generate_proposal_answer(struct guideline_service_generate_proposal_call *call)
{
    const struct work_result *result = call->result;
    enum err err = OK;

    for (uint32_t i = 0; i < result->count && err == OK; i++) {
        struct event event;

        err = log_read(call->txn, result->org, result->first_seq + i, &event);
        if (err == OK && event.kind == EVENT_GUIDELINE_SUNSET_PROPOSED) {
            err = put_sunset(call, &event);
            continue;
        }
        if (err == OK && event.kind != EVENT_PROPOSAL_CREATED) {
            err = ERR_CORRUPT;
        }
        if (err == OK) {
            err = proposal_put_event(call->ctx->arena, call->txn, &event,
                                     GENERATE_PROPOSAL_RESPONSE_PROPOSALS_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
