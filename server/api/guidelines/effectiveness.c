/*
 * effectiveness.c: GuidelineService/GetGuidelineEffectiveness.
 */
#include "server/api/artifact_outcomes.h"
#include "server/domain/effects/effect.h"
#include "server/domain/learning/report.h"
#include "server/pipeline/service.h"

#include <errata/v1/guideline_service.handlers.h>
#include <errata/v1/guideline_service.views.h>

#define PER_100 100.0

static bool encode_feedback(struct arena *arena, const struct proportion *proportion,
                            struct slice *ret_message)
{
    const struct similar_feedback_view view = {
        .decisions = (uint32_t)proportion->trial_count,
        .similar = (uint32_t)proportion->success_count,
        .has_per_100 = proportion->trial_count > 0,
        .per_100 = proportion->trial_count > 0 ? PER_100 * (double)proportion->success_count /
                                                     (double)proportion->trial_count
                                               : 0,
    };

    return view_encode(&similar_feedback_view_type, &view, arena, ret_message);
}

/* Sets what similar feedback shows. */
static enum err set_feedback(struct arena *arena, const struct guideline_effect *effect,
                             struct guideline_effectiveness_view *view)
{
    struct proportion_difference change;

    if (!effect->is_measured) {
        return OK;
    }
    view->has_before = true;
    view->has_after = true;
    if (proportions_subtract(&effect->after, &effect->before, &change)) {
        view->has_change = true;
        view->has_change_low = true;
        view->has_change_high = true;
        view->change = PER_100 * change.estimate;
        view->change_low = PER_100 * change.low;
        view->change_high = PER_100 * change.high;
    }
    return encode_feedback(arena, &effect->before, &view->before) &&
                   encode_feedback(arena, &effect->after, &view->after)
               ? OK
               : ERR_MEMORY;
}

/* Sets what the outcomes show. */
static enum err set_outcomes(struct arena *arena, const struct artifact_report *report,
                             struct guideline_effectiveness_view *view)
{
    view->has_served = true;
    view->has_treatment = true;
    view->has_held_out = true;
    view->has_shadow = true;
    view->has_difference = report->has_difference;
    view->has_difference_low = report->has_difference;
    view->has_difference_high = report->has_difference;
    view->difference = report->difference.estimate;
    view->difference_low = report->difference.low;
    view->difference_high = report->difference.high;
    return artifact_outcomes_encode(arena, &report->served, &view->served) &&
                   artifact_outcomes_encode(arena, &report->treatment, &view->treatment) &&
                   artifact_outcomes_encode(arena, &report->held_out, &view->held_out) &&
                   artifact_outcomes_encode(arena, &report->shadow, &view->shadow)
               ? OK
               : ERR_MEMORY;
}

/* `scratch` is used for one guideline at a time. */
static enum err put(struct guideline_service_get_guideline_effectiveness_call *call,
                    struct arena *scratch, const struct proposal *guideline)
{
    struct guideline_effectiveness_view view = {.has_guideline = true};
    struct artifact_report report = {.kind = ARTIFACT_KIND_GUIDELINE};
    struct guideline_effect effect;
    enum err err = guideline_effect_measure(scratch, call->txn, guideline, &effect);

    if (err == OK) {
        artifact_report_count(&effect.outcomes, &report);
        err = guideline_encode(scratch, call->txn, guideline, &view.guideline);
    }
    if (err == OK) {
        err = set_outcomes(scratch, &report, &view);
    }
    if (err == OK) {
        err = set_feedback(scratch, &effect, &view);
    }
    if (err == OK) {
        guideline_effectiveness_view_put(
            &view, GET_GUIDELINE_EFFECTIVENESS_RESPONSE_GUIDELINES_FIELD, call->body);
    }
    arena_reset(scratch);
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err guideline_service_get_guideline_effectiveness_read(
    struct guideline_service_get_guideline_effectiveness_call *call)
{
    struct proposal_list list = {
        .org = call->org, .agent = slice_text(call->request->agent_name), .page = call->page};
    struct proposal guideline;
    struct arena scratch;
    enum err err = guideline_list_begin(call->txn, &list);

    arena_init(&scratch, call->ctx->arena->limit_bytes);
    while (err == OK) {
        err = service_is_cancelled(call->service)
                  ? ERR_CANCELLED
                  : guideline_list_next(call->txn, &list, &guideline);
        if (err == OK) {
            err = put(call, &scratch, &guideline);
        }
    }
    arena_deinit(&scratch);
    return err == ERR_NOT_FOUND ? OK : err;
}
