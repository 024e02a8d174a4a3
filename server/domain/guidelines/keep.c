/*
 * keep.c: a person keeps a guideline that the server proposed to retire.
 */
#include "server/domain/guidelines/proposals.h"

#include "server/domain/artifacts/state.h"

#include <event_apply.h>

/* ACTIVE keeps a guideline in effect; the other states are reached by votes, and by methods of their own. */
static enum err check(struct ctx *ctx, const struct guideline_state_request *request,
                      const struct proposal *proposal, enum artifact_state *ret_before)
{
    enum artifact_state state = ARTIFACT_STATE_UNSPECIFIED;
    enum err err = OK;

    if (!artifact_state_from_wire((int32_t)proposal->record.life.state, ret_before)) {
        return ERR_CORRUPT;
    }
    err = artifact_state_decide(ctx, true, *ret_before, request->state, &state);
    if (err == OK && state != ARTIFACT_STATE_ACTIVE) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "state: a guideline is only kept by it; expected ACTIVE, or "
                         "RetireGuideline, RejectProposal or ApproveProposal");
    }
    return err;
}

enum err guideline_set_state(struct ctx *ctx, struct store_txn *txn,
                             const struct guideline_state_request *request, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    const struct slice none = {NULL, 0};
    struct artifact_state_set_view facts = {.artifact_kind = ARTIFACT_KIND_GUIDELINE,
                                            .artifact_id = request->guideline_id,
                                            .state = ARTIFACT_STATE_ACTIVE,
                                            .reason = request->reason};
    struct event_draft draft = {.org = request->org, .kind = EVENT_ARTIFACT_STATE_SET};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    struct proposal proposal;
    enum err err = proposal_find(txn, request->org, request->guideline_id, &proposal);

    if (err == OK) {
        err = check(ctx, request, &proposal, &facts.previous_state);
    }
    if (err == OK) {
        err = actor_resolve(ctx, &request->caller, none, none, false, &draft.actor_user_id);
    }
    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, none, none, &annotator);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err != OK) {
        return err;
    }
    draft.annotator = (enum annotator)annotator;
    facts.artifact_seq = proposal.seq;
    facts.version = proposal.record.life.version;
    if (!view_encode_parts(&artifact_state_set_view_type, &facts, ctx->arena, &draft.facts,
                           &draft.content)) {
        return ERR_MEMORY;
    }
    err = event_draft_add_id(ctx->arena, &draft, SUBJECT_PROPOSAL, request->guideline_id);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, guidelines_apply, ret_seq);
}
