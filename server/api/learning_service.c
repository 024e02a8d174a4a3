/*
 * learning_service.c: LearningService: the inputs of a request become values for the domain. The explanation is
 * made on the pool.
 */
#include "server/domain/learning/explain.h"
#include "server/domain/text/sku.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/learning_service.handlers.h>

/* The entries of the two maps are separate types of the same form. */
static enum err read_context(struct arena *arena, const Errata__V1__PromptInputs *inputs,
                             struct prompt_query *query)
{
    struct prompt_value *context = arena_calloc(arena, inputs->n_context + 1, sizeof(*context));
    struct prompt_value *trusted =
        arena_calloc(arena, inputs->n_trusted_context + 1, sizeof(*trusted));

    if (context == NULL || trusted == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < inputs->n_context; i++) {
        context[i].name = slice_text(inputs->context[i]->key);
        context[i].text = slice_text(inputs->context[i]->value);
    }
    for (size_t i = 0; i < inputs->n_trusted_context; i++) {
        trusted[i].name = slice_text(inputs->trusted_context[i]->key);
        trusted[i].text = slice_text(inputs->trusted_context[i]->value);
    }
    query->context = (struct prompt_values){context, inputs->n_context};
    query->trusted = (struct prompt_values){trusted, inputs->n_trusted_context};
    return OK;
}

static enum err read_prompt(struct ctx *ctx, struct org_id org,
                            const Errata__V1__PromptInputs *inputs, struct prompt_query **ret_query)
{
    struct prompt_query *query = arena_calloc(ctx->arena, 1, sizeof(*query));
    enum err err = OK;

    if (query == NULL) {
        return ERR_MEMORY;
    }
    query->stored.org = org;
    if (inputs->source_case == ERRATA__V1__PROMPT_INPUTS__SOURCE_TEMPLATE_NAME) {
        query->stored.name = slice_text(inputs->template_name);
    } else if (inputs->source_case == ERRATA__V1__PROMPT_INPUTS__SOURCE_TEMPLATE) {
        query->template_text = slice_text(inputs->template_);
    }
    err = read_context(ctx->arena, inputs, query);
    if (err == OK) {
        err = prompt_check(ctx, query);
    }
    *ret_query = query;
    return err;
}

static enum err read_lines(struct ctx *ctx, struct org_id org,
                           const Errata__V1__ExplainExposureRequest *request,
                           struct match **ret_match)
{
    bool has_candidates = request->_max_candidates_case != 0;
    struct match *match = arena_calloc(ctx->arena, 1, sizeof(*match));
    enum err err = OK;

    if (match == NULL) {
        return ERR_MEMORY;
    }
    match->org = org;
    match->line_count = request->n_lines;
    match->lines = arena_calloc(ctx->arena, request->n_lines, sizeof(*match->lines));
    match->candidates = has_candidates ? (size_t)request->max_candidates : MATCH_CANDIDATES_DEFAULT;
    if (match->lines == NULL) {
        return ERR_MEMORY;
    }
    if (UNEXPECTED(match->candidates > MATCH_CANDIDATES_MAX)) {
        return ERR_INTERNAL; /* check_request refuses it */
    }
    for (size_t i = 0; i < request->n_lines && err == OK; i++) {
        match->lines[i].customer_id = slice_text(request->lines[i]->customer_id);
        err = sku_fold(ctx->arena, slice_text(request->lines[i]->customer_sku),
                       &match->lines[i].folded_customer_sku);
    }
    *ret_match = match;
    return err;
}

static enum err read_query(struct learning_service_explain_exposure_call *call,
                           struct explain_query *query)
{
    const Errata__V1__ExplainExposureRequest *request = call->request;
    enum err err = OK;

    if (request->exposure_case == ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__EXPOSURE_EXPOSURE_REF) {
        query->exposure_ref = slice_text(request->exposure_ref);
    }
    if (query->exposure_ref.size == 0 &&
        (request->exposure_case != ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__EXPOSURE_EXPOSURE_ID ||
         !uuid_parse(slice_text(request->exposure_id), &query->exposure_id))) {
        fault_add(call->ctx->fault, SLICE("exposure"),
                  "missing; expected exposure_ref or exposure_id");
        return ERR_INVALID;
    }
    if (request->prompt_inputs != NULL) {
        err = read_prompt(call->ctx, call->org, request->prompt_inputs, &query->prompt);
    }
    if (err == OK && request->n_lines > 0) {
        err = read_lines(call->ctx, call->org, request, &query->match);
    }
    return err;
}

enum err learning_service_explain_exposure_read(struct learning_service_explain_exposure_call *call)
{
    struct explain_query query = {
        .org = call->org,
        .key = &call->service->env->exposure_key,
    };
    enum err err = read_query(call, &query);

    return err != OK ? err : exposure_explain(call->ctx, call->txn, &query, call->body);
}
