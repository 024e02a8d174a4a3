/*
 * scoring.c: see scoring.h.
 */
#include "server/domain/scoring/scoring.h"

#include <errata/v1/verdict_service.views.h>

/* Bytes of an event of the response besides the pattern: the id, the evidence, a weight, and
 * constant text. */
#define EVENT_BYTES 160

enum err scoring_apply(struct arena *arena, const struct rule_set *set,
                       const struct scoring_request *request, struct scoring_result *ret_result)
{
    struct scoring_result result = {.event_count = 0};
    const struct scoring_rule **rules = NULL;
    struct score_addend *addends = NULL;
    int64_t sum = 0;
    enum err err = rule_set_match(arena, set, &request->receipt, &rules, &result.event_count);

    if (err != OK) {
        return err;
    }
    result.events = arena_calloc(arena, result.event_count + 1, sizeof(*result.events));
    addends = arena_calloc(arena, result.event_count + 1, sizeof(*addends));
    if (result.events == NULL || addends == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < result.event_count; i++) {
        struct score_weight weight =
            score_weigh(rules[i]->adjustment, rules[i]->gates, &request->context);

        result.events[i] = (struct scoring_event){rules[i], weight};
        addends[i] = (struct score_addend){rules[i]->pattern_number, weight.weight};
    }
    sum = request->stacking == SCORE_STACKING_MAX
              ? score_sum_of_largest(addends, result.event_count)
              : score_sum(addends, result.event_count);
    result.unclamped = request->score + (double)sum / (double)VERDICT_UNIT;
    result.clamped = score_clamp(result.unclamped);
    *ret_result = result;
    return OK;
}

static enum err put_event(struct arena *arena, const struct scoring_event *event,
                          struct buffer *run)
{
    const struct scoring_rule *rule = event->rule;
    struct rule_evidence_view evidence = {
        .feedback_count = rule->count,
        .accuracy = (double)rule->accuracy / (double)VERDICT_UNIT,
    };
    struct score_event_view view = {
        .severity = SCORE_SEVERITY_INFO,
        .weight = (double)event->weight.weight / (double)VERDICT_UNIT,
        .has_evidence = true,
        .suppressed_by = event->weight.suppressed_by,
    };
    char id[UUID_TEXT_BYTES];

    uuid_format(rule->id, id);
    view.rule_id = arena_printf(arena, "LEARNED_%.*s", (int)sizeof(id), id);
    view.message = arena_printf(arena, "Learned rule applied: %.*s", (int)rule->pattern.size,
                                (const char *)rule->pattern.data);
    if (!learned_rule_type_from_wire((int32_t)rule->rule_type, &evidence.rule_type)) {
        return ERR_CORRUPT;
    }
    if (view.rule_id.size == 0 || view.message.size == 0 ||
        !view_encode(&rule_evidence_view_type, &evidence, arena, &view.evidence)) {
        return ERR_MEMORY;
    }
    score_event_view_put(&view, SCORE_DOCUMENT_RESPONSE_EVENTS_FIELD, run);
    return OK;
}

enum err scoring_write(struct arena *arena, const struct scoring_result *result,
                       struct buffer *body)
{
    struct score_document_response_view view = {
        .score = result->clamped,
        .unclamped_score = result->unclamped,
    };
    struct buffer run;
    enum err err = OK;

    buffer_init(&run, arena, result->event_count * EVENT_BYTES);
    for (size_t i = 0; i < result->event_count && err == OK; i++) {
        err = put_event(arena, &result->events[i], &run);
    }
    view.events.run = buffer_slice(&run);
    score_document_response_view_write(&view, body);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
}
