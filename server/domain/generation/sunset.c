/*
 * sunset.c: see sunset.h.
 */
#include "server/domain/generation/sunset.h"

#include "server/domain/effects/effect.h"

#include <event_apply.h>

static enum err append(struct ctx *ctx, struct store_txn *txn, const struct proposal *guideline,
                       const struct guideline_effect *effect, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    const struct artifact_record *outcomes = &effect->outcomes;
    const struct guideline_sunset_proposed_view facts = {
        .guideline_id = guideline->view.id,
        .proposal_seq = guideline->seq,
        .decisions_before = (uint32_t)effect->before.trial_count,
        .similar_before = (uint32_t)effect->before.success_count,
        .decisions_after = (uint32_t)effect->after.trial_count,
        .similar_after = (uint32_t)effect->after.success_count,
        .treatment_outcomes = outcomes->treatment.outcome_count,
        .treatment_bad = outcomes->treatment.bad_count,
        .held_out_outcomes = outcomes->control.outcome_count,
        .held_out_bad = outcomes->control.bad_count,
    };
    struct event_draft draft = {.org = guideline->event.org,
                                .kind = EVENT_GUIDELINE_SUNSET_PROPOSED,
                                .annotator = ANNOTATOR_CODE,
                                .actor_user_id = SLICE(GENERATION_PROPOSER)};
    enum err err = event_draft_stamp(ctx, txn, &now, &draft);

    if (err == OK && !view_encode_parts(&guideline_sunset_proposed_view_type, &facts, ctx->arena,
                                        &draft.facts, &draft.content)) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_PROPOSAL, facts.guideline_id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, guidelines_apply, ret_seq);
}

enum err sunset_step(struct ctx *ctx, struct store_txn *txn, struct generation_batch *batch,
                     uint64_t *ret_seq)
{
    struct guideline_effect effect;
    struct proposal guideline;
    enum err err = guideline_next(txn, batch->org, batch->after_guideline, &guideline);

    *ret_seq = 0;
    if (err != OK) {
        batch->has_ended = err == ERR_NOT_FOUND;
        return err == ERR_NOT_FOUND ? OK : err;
    }
    batch->after_guideline = guideline.seq;
    if (guideline.record.life.state != ARTIFACT_STATE_ACTIVE) {
        return OK;
    }
    err = guideline_effect_measure(ctx->arena, txn, &guideline, &effect);
    if (err == OK && guideline_effect_is_none(&effect)) {
        err = append(ctx, txn, &guideline, &effect, ret_seq);
    }
    return err;
}
