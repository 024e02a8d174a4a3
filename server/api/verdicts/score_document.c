/*
 * score_document.c: VerdictService/ScoreDocument. The call runs on the loop if the organisation's
 * rule set is loaded; otherwise on the pool, which loads it. A score of the past also runs on the
 * pool, since no other score needs its set.
 */
#include "server/domain/scoring/scoring.h"
#include "server/domain/settings/settings_cache.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/verdict_service.fields.h>
#include <errata/v1/verdict_service.handlers.h>

static enum err read_indicators(struct ctx *ctx, const Errata__V1__ScoreDocumentRequest *request,
                                struct receipt *receipt)
{
    struct slice *indicators =
        arena_calloc(ctx->arena, request->n_indicators + 1, sizeof(*indicators));

    if (indicators == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < request->n_indicators; i++) {
        indicators[i] = slice_text(request->indicators[i]);
        if (indicators[i].size == 0) {
            fault_add(ctx->fault, arena_printf(ctx->arena, "indicators[%zu]", i),
                      "empty; expected an indicator of 1 to 256 bytes");
        }
    }
    receipt->indicators = indicators;
    receipt->indicator_count = request->n_indicators;
    return OK;
}

static enum err read_request(struct ctx *ctx, const Errata__V1__ScoreDocumentRequest *request,
                             struct scoring_request *ret_scoring)
{
    const Errata__V1__DocumentProfile *profile = request->document_profile;
    struct scoring_request scoring = {
        .receipt = {.features = slice_text(request->features_json),
                    .text = slice_text(request->text)},
        .score = request->score,
        .context = {.missing_fields_enabled = request->missing_fields_enabled},
    };
    enum err err = read_indicators(ctx, request, &scoring.receipt);

    if (request->_score_case == 0) {
        fault_add(ctx->fault, SLICE("score"), "missing; expected the score, 0 to 1");
    }
    if (profile != NULL) {
        scoring.context.profile_confidence = profile->confidence;
        scoring.context.profile_subtype = slice_text(profile->subtype);
    }
    *ret_scoring = scoring;
    return err != OK ? err : fault_result(ctx->fault);
}

/* Found on the loop: the set, and the settings after its last event. */
struct score_found {
    struct rule_set *set;
    struct settings settings;
};

static enum err find_on_loop(struct verdict_service_score_document_call *call,
                             struct score_found *found)
{
    struct service_env *env = call->service->env;
    struct log_head head;
    enum err err = log_read_head(call->txn, call->org, &head);

    if (err == OK) {
        err = rule_cache_find(&env->rule_cache, call->txn, call->org, head.last_seq, &found->set);
    }
    if (err == OK && found->set != NULL) {
        err = settings_cache_read(&env->settings_cache, call->txn, call->org, head.last_seq,
                                  &found->settings);
    }
    return err;
}

enum err verdict_service_score_document_cost(struct verdict_service_score_document_call *call)
{
    struct score_found *found = NULL;
    enum err err = OK;

    call->cost = READ_IS_LONG;
    if (call->as_of.is_given) {
        return OK;
    }
    found = arena_calloc(call->ctx->arena, 1, sizeof(*found));
    if (found == NULL) {
        return ERR_MEMORY;
    }
    err = find_on_loop(call, found);
    if (err == OK && found->set != NULL) {
        call->prepared = found;
        call->cost = READ_IS_SHORT;
    }
    return err;
}

/* Loads the set and the settings on the pool. */
static enum err load(struct verdict_service_score_document_call *call, struct score_found *found)
{
    uint64_t seed = 0;
    struct log_head head;
    enum err err = log_read_head(call->txn, call->org, &head);

    if (err == OK) {
        err = settings_read_as_of(call->txn, call->org, call->as_of.seq, &found->settings);
    }
    if (err != OK) {
        return err;
    }
    random_fill(call->ctx->random, &seed, sizeof(seed));
    err = call->as_of.is_given
              ? rule_set_load_past(call->txn, call->org, call->as_of.seq, seed, &found->set)
              : rule_set_load(call->txn, call->org, head.last_seq, seed, &found->set);
    if (err == ERR_TOO_LARGE || err == ERR_MEMORY) {
        return fault_say(call->ctx->fault, ERR_TOO_LARGE,
                         "rules: too many are enabled or in SHADOW for one score; expected at "
                         "most %d",
                         RULE_SET_RULES_MAX);
    }
    return err;
}

/* Makes the reference of a response. */
static enum err refer(struct verdict_service_score_document_call *call, uint64_t as_of_seq,
                      const struct scoring_result *result, struct slice events,
                      struct slice *ret_reference)
{
    struct exposure exposure;
    enum err err = scoring_expose(call->ctx->arena, result, events, &exposure);

    if (err != OK) {
        return err;
    }
    exposure.served_at_us = clock_wall_us(call->ctx->clock);
    exposure.as_of_seq = as_of_seq;
    return exposure_reference(call->ctx->arena, &call->service->env->exposure_key, call->org,
                              &exposure, ret_reference);
}

static enum err score(struct verdict_service_score_document_call *call,
                      const struct score_found *found, struct scoring_request *request)
{
    const struct settings *settings = &found->settings;
    struct slice reference = {NULL, 0};
    struct slice events = {NULL, 0};
    struct scoring_result result;
    enum err err = OK;

    request->stacking = settings->stacking;
    request->thresholds = (struct score_thresholds){settings->suspicious_at, settings->fake_at};
    err = scoring_apply(call->ctx->arena, found->set, request, &result);
    if (err == OK) {
        err = scoring_encode_events(call->ctx->arena, &result, call->as_of.is_given, &events);
    }
    if (err == OK && !call->as_of.is_given) {
        err = refer(call, found->set->applied_seq, &result, events, &reference);
    }
    if (err == OK) {
        scoring_write(&result, events, reference, call->body);
    }
    return err;
}

enum err verdict_service_score_document_read(struct verdict_service_score_document_call *call)
{
    struct score_found loaded = {.set = NULL};
    const struct score_found *found = call->prepared;
    struct scoring_request request;
    enum err err = read_request(call->ctx, call->request, &request);

    if (err == OK && found == NULL) {
        err = load(call, &loaded);
        found = &loaded;
    }
    if (err == OK) {
        err = score(call, found, &request);
    }
    if (loaded.set != NULL && call->as_of.is_given) {
        rule_set_free(loaded.set);
    } else if (loaded.set != NULL) {
        rule_cache_offer(&call->service->env->rule_cache, loaded.set);
    }
    return err;
}
