/*
 * learning_service.c: LearningService: the inputs of a request become values for the domain, its reports become
 * replies. Explanations are made on the pool; a report reads one row.
 */
#include "server/domain/learning/explain.h"
#include "server/domain/learning/outcomes.h"
#include "server/domain/learning/report.h"
#include "server/domain/text/sku.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/learning_service.handlers.h>
#include <errata/v1/learning_service.views.h>

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

/* Encodes one side of a report, in the arena. */
static bool encode_outcomes(struct arena *arena, const struct artifact_counts *counts,
                            struct slice *ret_message)
{
    bool has_rate = counts->outcome_count > 0;
    const struct artifact_outcomes_view view = {
        .exposure_count = counts->exposure_count,
        .outcome_count = counts->outcome_count,
        .good_count = counts->outcome_count - counts->bad_count,
        .bad_count = counts->bad_count,
        .bad_rate = has_rate ? (double)counts->bad_count / (double)counts->outcome_count : 0,
        .has_bad_rate = has_rate,
    };

    return view_encode(&artifact_outcomes_view_type, &view, arena, ret_message);
}

/* Appends the newest outcomes of a report. */
static enum err put_newest_outcomes(struct learning_service_get_artifact_report_call *call,
                                    const struct artifact_report *report)
{
    enum err err = OK;

    for (size_t i = 0; i < report->outcome_seq_count && err == OK; i++) {
        struct exposure_outcome_view view;

        err = outcome_describe(call->ctx, call->txn, call->org, report->outcome_seqs[i], &view);
        if (err == OK) {
            exposure_outcome_view_put(&view, GET_ARTIFACT_REPORT_RESPONSE_NEWEST_OUTCOMES_FIELD,
                                      call->body);
        }
    }
    return err;
}

enum err
learning_service_get_artifact_report_read(struct learning_service_get_artifact_report_call *call)
{
    struct get_artifact_report_response_view response = {
        .has_served = true, .has_treatment = true, .has_held_out = true};
    struct arena *arena = call->ctx->arena;
    struct artifact_report report = {.has_difference = false};
    enum err err = ERR_NOT_FOUND;

    if (uuid_parse(slice_text(call->request->artifact_id), &response.artifact_id)) {
        err = artifact_report_read(call->txn, call->org, response.artifact_id, &report);
    }
    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "artifact_id: not found in this organisation; expected the id of an "
                         "example, a mapping or a version of a prompt template");
    }
    if (err != OK) {
        return err;
    }
    response.artifact_kind = report.kind;
    response.difference = report.difference.estimate;
    response.difference_low = report.difference.low;
    response.difference_high = report.difference.high;
    response.has_difference = report.has_difference;
    response.has_difference_low = report.has_difference;
    response.has_difference_high = report.has_difference;
    if (!encode_outcomes(arena, &report.served, &response.served) ||
        !encode_outcomes(arena, &report.treatment, &response.treatment) ||
        !encode_outcomes(arena, &report.held_out, &response.held_out)) {
        return ERR_MEMORY;
    }
    get_artifact_report_response_view_write(&response, call->body);
    return put_newest_outcomes(call, &report);
}
