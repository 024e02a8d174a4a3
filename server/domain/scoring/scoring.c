/*
 * scoring.c: see scoring.h.
 */
#include "server/domain/scoring/scoring.h"

#include "server/domain/scoring/score_event.h"
#include "server/domain/verdicts/learners.h"

#include <errata/v1/verdict_service.views.h>

/* Computes the weights of the rules that matched; live ones first, then those in SHADOW. */
static enum err weigh(struct arena *arena, const struct scoring_request *request,
                      const struct scoring_rule **rules, size_t count,
                      struct scoring_result *result)
{
    result->events = arena_calloc(arena, count + 1, sizeof(*result->events));
    result->shadows = arena_calloc(arena, count + 1, sizeof(*result->shadows));
    if (result->events == NULL || result->shadows == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const struct scoring_event event = {
            rules[i], score_weigh(rules[i]->adjustment, rules[i]->gates, &request->context)};

        if (rules[i]->is_live) {
            result->events[result->event_count] = event;
            result->event_count++;
        } else {
            result->shadows[result->shadow_count] = event;
            result->shadow_count++;
        }
    }
    return OK;
}

/* Lists the weights for stacking. Returns the number of them. */
static size_t list_addends(const struct scoring_event *events, size_t count,
                           struct score_addend *addends)
{
    for (size_t i = 0; i < count; i++) {
        addends[i] = (struct score_addend){events[i].rule->pattern_number, events[i].weight.weight};
    }
    return count;
}

/* Returns the score with these weights. */
static double add_up(const struct scoring_request *request, struct score_addend *addends,
                     size_t count)
{
    int64_t sum = request->stacking == SCORE_STACKING_MAX ? score_sum_of_largest(addends, count)
                                                          : score_sum(addends, count);

    return request->score + (double)sum / (double)VERDICT_UNIT;
}

enum err scoring_apply(struct arena *arena, const struct rule_set *set,
                       const struct scoring_request *request, struct scoring_result *ret_result)
{
    const struct score_thresholds *thresholds = &request->thresholds;
    struct scoring_result result = {.event_count = 0};
    const struct scoring_rule **rules = NULL;
    struct score_addend *addends = NULL;
    double with_shadows = 0;
    size_t count = 0;
    enum err err = rule_set_match(arena, set, &request->receipt, &rules, &count);

    if (err == OK) {
        err = weigh(arena, request, rules, count, &result);
    }
    if (err != OK) {
        return err;
    }
    addends = arena_calloc(arena, count + 1, sizeof(*addends));
    if (addends == NULL) {
        return ERR_MEMORY;
    }
    count = list_addends(result.events, result.event_count, addends);
    result.unclamped = add_up(request, addends, count);
    result.clamped = score_clamp(result.unclamped);
    count = list_addends(result.events, result.event_count, addends);
    count += list_addends(result.shadows, result.shadow_count, addends + count);
    with_shadows = add_up(request, addends, count);
    result.verdicts = (struct exposed_verdicts){
        .base = score_verdict(score_clamp(request->score), thresholds),
        .live = score_verdict(result.clamped, thresholds),
        .shadow = score_verdict(score_clamp(with_shadows), thresholds),
    };
    *ret_result = result;
    return OK;
}

enum err scoring_encode_events(struct arena *arena, const struct scoring_result *result,
                               bool is_past, struct slice *ret_events)
{
    struct buffer run;
    enum err err = OK;

    buffer_init(&run, arena, result->event_count * SCORE_EVENT_BYTES);
    for (size_t i = 0; i < result->event_count && err == OK; i++) {
        const struct scoring_event *event = &result->events[i];
        const struct score_event view = {
            .id = event->rule->id,
            .rule_type = event->rule->rule_type,
            .pattern = event->rule->pattern,
            .weight = event->weight.weight,
            .suppressed_by = event->weight.suppressed_by,
            .count = is_past ? 0 : event->rule->count,
            .accuracy = is_past ? 0 : event->rule->accuracy,
        };

        err = score_event_put(arena, &view, SCORE_DOCUMENT_RESPONSE_EVENTS_FIELD, &run);
    }
    *ret_events = buffer_slice(&run);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
}

static struct exposed_artifact expose_rule(const struct scoring_event *event)
{
    const struct scoring_rule *rule = event->rule;

    return (struct exposed_artifact){
        .seq = rule->seq,
        .version = rule->version,
        .rule = {.count = rule->count,
                 .accuracy = rule->accuracy,
                 .suppressed_by = event->weight.suppressed_by,
                 .reduced = event->weight.reduced,
                 .shadow = !rule->is_live,
                 .raises = learned_rule_raises((enum learned_rule_type)rule->rule_type,
                                               rule->adjustment)},
    };
}

enum err scoring_expose(struct arena *arena, const struct scoring_result *result,
                        struct slice events, struct exposure *ret_exposure)
{
    size_t count = result->event_count + result->shadow_count;
    struct exposed_artifact *artifacts = arena_calloc(arena, count + 1, sizeof(*artifacts));
    struct sha256_digest digest = sha256(events);

    if (artifacts == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < result->event_count; i++) {
        artifacts[i] = expose_rule(&result->events[i]);
    }
    for (size_t i = 0; i < result->shadow_count; i++) {
        artifacts[result->event_count + i] = expose_rule(&result->shadows[i]);
    }
    *ret_exposure = (struct exposure){
        .kind = EXPOSURE_KIND_SCORE,
        .arm = EXPERIMENT_ARM_NONE,
        .artifacts = artifacts,
        .artifact_count = count,
        .verdicts = result->verdicts,
    };
    memcpy(ret_exposure->text_hash, digest.bytes, EXPOSURE_TEXT_HASH_BYTES);
    return OK;
}

void scoring_write(const struct scoring_result *result, struct slice events, struct slice reference,
                   struct buffer *body)
{
    const struct score_document_response_view view = {
        .score = result->clamped,
        .unclamped_score = result->unclamped,
        .events = {.run = events},
        .verdict = result->verdicts.live,
        .exposure_ref = reference,
    };

    score_document_response_view_write(&view, body);
}
