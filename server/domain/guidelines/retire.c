/*
 * retire.c: a person ends the effect of a guideline.
 */
#include "server/domain/guidelines/proposals.h"

#include "server/domain/artifacts/life.h"
#include <event_apply.h>

enum err guideline_retire(struct ctx *ctx, struct store_txn *txn,
                          const struct guideline_retirement *retirement, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    const struct slice none = {NULL, 0};
    struct guideline_retired_view facts = {.guideline_id = retirement->guideline_id,
                                           .reason = retirement->reason};
    struct event_draft draft = {.org = retirement->org, .kind = EVENT_GUIDELINE_RETIRED};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    struct proposal proposal;
    enum err err = proposal_find(txn, retirement->org, retirement->guideline_id, &proposal);

    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, err,
                         "guideline_id: not found in this organisation; expected the id of a "
                         "guideline");
    }
    if (err == OK && !artifact_life_is_live(&proposal.record.life)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "guideline_id: the guideline is not in effect; expected one that "
                         "ListActiveGuidelines lists");
    }
    if (err == OK) {
        err = actor_resolve(ctx, &retirement->caller, none, none, false, &draft.actor_user_id);
    }
    if (err == OK) {
        err = annotator_resolve(ctx, &retirement->caller, none, none, &annotator);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err != OK) {
        return err;
    }
    draft.annotator = (enum annotator)annotator;
    facts.proposal_seq = proposal.seq;
    if (!view_encode_parts(&guideline_retired_view_type, &facts, ctx->arena, &draft.facts,
                           &draft.content)) {
        return ERR_MEMORY;
    }
    err = event_draft_add_id(ctx->arena, &draft, SUBJECT_PROPOSAL, retirement->guideline_id);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, guidelines_apply, ret_seq);
}
