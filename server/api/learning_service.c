/*
 * learning_service.c: LearningService: converts requests to values for the domain, and its reports
 * to replies. Explanations are made on the pool; a report reads one row. Decisions about artifacts
 * append one event.
 */
#include "server/api/artifact_outcomes.h"
#include "server/api/reviews/placeholders_wire.h"
#include "server/api/turns/turn_wire.h"
#include "server/domain/learning/explain.h"
#include "server/domain/learning/outcomes.h"
#include "server/domain/learning/report.h"
#include "server/domain/learning/rule_measures.h"
#include "server/domain/learning/state.h"
#include "server/domain/text/sku.h"
#include "server/domain/verdicts/verdicts.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <errata/v1/learning_service.handlers.h>
#include <errata/v1/learning_service.views.h>

/* Typical size of an evidence event: two ids, a time and a receipt. */
#define EVIDENCE_BYTES 160

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
        return ERR_INTERNAL; /* check_request has refused such a request */
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
    if (err == OK && request->resolve_inputs != NULL) {
        query->placeholders = arena_calloc(call->ctx->arena, 1, sizeof(*query->placeholders));
        err = query->placeholders == NULL
                  ? ERR_MEMORY
                  : placeholders_wire_read(call->ctx, request->resolve_inputs, query->placeholders);
    }
    if (err == OK && request->search_inputs != NULL) {
        err = turn_wire_read_search(call->service, call->org, request->search_inputs,
                                    &query->strategies);
    }
    if (err == OK && request->agent_prompt_inputs != NULL) {
        struct slice *base = arena_calloc(call->ctx->arena, 1, sizeof(*base));

        if (base == NULL) {
            return ERR_MEMORY;
        }
        *base = slice_text(request->agent_prompt_inputs->base_prompt);
        query->base_prompt = base;
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

/* Appends the state and the evidence of an artifact that has them. */
static enum err put_life(struct learning_service_get_artifact_report_call *call,
                         const struct artifact_report *report,
                         struct get_artifact_report_response_view *response)
{
    struct buffer run;
    enum err err = OK;

    if (!report->has_life) {
        return OK;
    }
    if (!artifact_state_from_wire((int32_t)report->life.state, &response->state)) {
        return ERR_CORRUPT;
    }
    response->version = report->life.version;
    response->evidence_incomplete = report->evidence.is_incomplete;
    buffer_init(&run, call->ctx->arena, EVIDENCE_BYTES * (report->evidence.count + 1));
    for (size_t i = 0; i < report->evidence.count && err == OK; i++) {
        struct evidence_event_view view;

        err = evidence_describe(call->txn, call->org, &report->evidence.items[i], &view);
        if (err == OK) {
            evidence_event_view_put(&view, GET_ARTIFACT_REPORT_RESPONSE_EVIDENCE_FIELD, &run);
        }
    }
    response->evidence.run = buffer_slice(&run);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
}

/* Encodes the measures of a rule by verdicts. */
static enum err put_measures(struct learning_service_get_artifact_report_call *call,
                             struct uuid rule_id,
                             struct get_artifact_report_response_view *response)
{
    struct learned_rule_row row;
    struct buffer run;
    enum err err = learned_rule_find_id(call->txn, call->org, rule_id, &row);

    buffer_init(&run, call->ctx->arena, 256);
    if (err == OK) {
        err = rule_measures_put(call->ctx->arena, call->txn, call->org, &row,
                                GET_ARTIFACT_REPORT_RESPONSE_RULE_MEASURES_FIELD, &run);
    }
    response->rule_measures.run = buffer_slice(&run);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
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
        return fault_say(
            call->ctx->fault, err,
            "artifact_id: not found in this organisation; expected the id of an "
            "example, a mapping, a version of a prompt template or of a fragment set, a "
            "learned rule, a turn, a guideline or an example item");
    }
    if (err == OK) {
        err = put_life(call, &report, &response);
    }
    if (err == OK && report.kind == ARTIFACT_KIND_LEARNED_RULE) {
        err = put_measures(call, response.artifact_id, &response);
    }
    if (err != OK) {
        return err;
    }
    response.artifact_kind = report.kind;
    response.has_shadow = report.kind == ARTIFACT_KIND_GUIDELINE;
    response.difference = report.difference.estimate;
    response.difference_low = report.difference.low;
    response.difference_high = report.difference.high;
    response.has_difference = report.has_difference;
    response.has_difference_low = report.has_difference;
    response.has_difference_high = report.has_difference;
    if (!artifact_outcomes_encode(arena, &report.served, &response.served) ||
        !artifact_outcomes_encode(arena, &report.treatment, &response.treatment) ||
        !artifact_outcomes_encode(arena, &report.held_out, &response.held_out) ||
        !artifact_outcomes_encode(arena, &report.shadow, &response.shadow)) {
        return ERR_MEMORY;
    }
    get_artifact_report_response_view_write(&response, call->body);
    return put_newest_outcomes(call, &report);
}

enum err
learning_service_get_rule_set_report_read(struct learning_service_get_rule_set_report_call *call)
{
    struct get_rule_set_report_response_view response = {.has_live = true, .has_shadow = true};
    struct arena *arena = call->ctx->arena;
    struct rule_set_measure_record record;
    enum err err = rule_set_measure_read(call->txn, call->org, &record);

    if (err != OK) {
        return err;
    }
    response.score_count = record.scores;
    response.directed_count = record.directed;
    if (!rule_set_side_encode(arena, &record, &record.live, &response.live) ||
        !rule_set_side_encode(arena, &record, &record.shadow, &response.shadow)) {
        return ERR_MEMORY;
    }
    get_rule_set_report_response_view_write(&response, call->body);
    return OK;
}

enum err
learning_service_propose_artifact_write(struct learning_service_propose_artifact_call *call)
{
    const Errata__V1__ProposedRule *rule = call->request->learned_rule;
    struct learned_rule_proposal proposal = {.org = call->org, .caller = caller_of(call->service)};
    enum err err = OK;

    if (call->request->proposal_case !=
        ERRATA__V1__PROPOSE_ARTIFACT_REQUEST__PROPOSAL_LEARNED_RULE) {
        fault_add(call->ctx->fault, SLICE("proposal"), "missing; expected learned_rule");
        return ERR_INVALID;
    }
    if (UNEXPECTED(!learned_rule_type_from_wire((int32_t)rule->rule_type, &proposal.rule_type))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    proposal.pattern = slice_text(rule->pattern);
    proposal.has_adjustment = rule->_confidence_adjustment_case != 0;
    proposal.adjustment = rule->confidence_adjustment;
    proposal.reason = slice_text(call->request->reason);
    err = learned_rule_propose(call->ctx, call->txn, &proposal, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

/* Reads the event that a write appended. */
static enum err read_result(struct store_txn *txn, const struct work_result *result,
                            enum event_kind_number kind, struct event *ret_event)
{
    enum err err = log_read(txn, result->org, result->first_seq, ret_event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return ret_event->kind == kind ? OK : ERR_CORRUPT;
}

enum err
learning_service_propose_artifact_answer(struct learning_service_propose_artifact_call *call)
{
    struct propose_artifact_response_view response = {.has_learned_rule = true};
    struct learned_rule_created_view facts;
    struct event event;
    enum err err = read_result(call->txn, call->result, EVENT_LEARNED_RULE_CREATED, &event);

    if (err == OK) {
        err = learned_rule_created_view_read(event.facts, &facts);
    }
    if (err != OK) {
        return err;
    }
    response.learned_rule = facts.rule;
    propose_artifact_response_view_write(&response, call->body);
    return OK;
}

enum err
learning_service_set_artifact_state_write(struct learning_service_set_artifact_state_call *call)
{
    struct artifact_decision decision = {
        .org = call->org,
        .caller = caller_of(call->service),
        .reason = slice_text(call->request->reason),
    };
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->artifact_id), &decision.artifact_id) ||
                   !artifact_state_from_wire((int32_t)call->request->state, &decision.state))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = artifact_set_state(call->ctx, call->txn, &decision, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err
learning_service_set_artifact_state_answer(struct learning_service_set_artifact_state_call *call)
{
    struct set_artifact_state_response_view response;
    struct artifact_state_set_view facts;
    struct event event;
    enum err err = read_result(call->txn, call->result, EVENT_ARTIFACT_STATE_SET, &event);

    if (err == OK) {
        err = artifact_state_set_view_read(event.facts, &facts);
    }
    if (err != OK) {
        return err;
    }
    response = (struct set_artifact_state_response_view){
        .artifact_kind = facts.artifact_kind,
        .artifact_id = facts.artifact_id,
        .previous_state = facts.previous_state,
        .state = facts.state,
        .version = facts.version,
        .event_id = event.id,
    };
    set_artifact_state_response_view_write(&response, call->body);
    return OK;
}
