/*
 * score_document.c: VerdictService/ScoreDocument. The call runs on the loop if the organisation's
 * rule set is loaded; otherwise on the pool, which loads it.
 */
#include "server/domain/scoring/scoring.h"
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
        .stacking = SCORE_STACKING_SUM,
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

enum err verdict_service_score_document_cost(struct verdict_service_score_document_call *call)
{
    struct rule_set *set = NULL;
    struct log_head head;
    enum err err = log_read_head(call->txn, call->org, &head);

    if (err == OK) {
        err = rule_cache_find(&call->service->env->rule_cache, call->txn, call->org, head.last_seq,
                              &set);
    }
    if (err == OK) {
        call->prepared = set;
        call->cost = set != NULL ? READ_IS_SHORT : READ_IS_LONG;
    }
    return err;
}

/* Loads a set on the pool. */
static enum err load(struct verdict_service_score_document_call *call, struct rule_set **ret_set)
{
    uint64_t seed = 0;
    struct log_head head;
    enum err err = log_read_head(call->txn, call->org, &head);

    if (err != OK) {
        return err;
    }
    random_fill(call->ctx->random, &seed, sizeof(seed));
    err = rule_set_load(call->txn, call->org, head.last_seq, seed, ret_set);
    if (err == ERR_TOO_LARGE || err == ERR_MEMORY) {
        return fault_say(call->ctx->fault, ERR_TOO_LARGE,
                         "rules: more are enabled than a score can use; expected at most %d",
                         RULE_SET_RULES_MAX);
    }
    return err;
}

enum err verdict_service_score_document_read(struct verdict_service_score_document_call *call)
{
    struct rule_set *loaded = NULL;
    struct rule_set *set = call->prepared;
    struct scoring_request scoring;
    struct scoring_result result;
    enum err err = read_request(call->ctx, call->request, &scoring);

    if (err == OK && set == NULL) {
        err = load(call, &loaded);
        set = loaded;
    }
    if (err == OK) {
        err = scoring_apply(call->ctx->arena, set, &scoring, &result);
    }
    if (err == OK) {
        err = scoring_write(call->ctx->arena, &result, call->body);
    }
    if (loaded != NULL) {
        rule_cache_offer(&call->service->env->rule_cache, loaded);
    }
    return err;
}
