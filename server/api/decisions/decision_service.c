/*
 * decision_service.c: DecisionService. The words of a decision are embedded and read on the pool, before the transaction;
 * its cluster and class are decided in it.
 */
#include "server/api/decisions/decision_wire.h"
#include "server/domain/decisions/evaluations.h"
#include "server/domain/decisions/similar.h"
#include "server/domain/events/retraction.h"
#include "server/domain/generation/generation.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/embedding.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "server/pipeline/texts.h"
#include "store/base/assert.h"

#include <errata/v1/decision_service.handlers.h>
#include <errata/v1/decision_service.views.h>

/* A space is made of a model's name and a width. */
#define SPACE_BYTES_MAX 200
/* Decisions of a page of an agent's, if the request gives no size. */
#define AGENT_DECISIONS_DEFAULT 100

static enum err read_tags(struct arena *arena, const Errata__V1__Decision *given,
                          struct decision_view *view)
{
    struct buffer run;

    buffer_init(&run, arena, 0);
    for (size_t i = 0; i < given->n_tags; i++) {
        decision_view_add_tags(&run, slice_text(given->tags[i]));
    }
    view->tags.run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static enum err read_decision(struct ctx *ctx, const Errata__V1__Decision *given,
                              struct decision_input *input)
{
    struct decision_view *view = &input->view;

    *view = (struct decision_view){
        .decision_id = slice_text(given->decision_id),
        .gate_id = slice_text(given->gate_id),
        .epic_id = slice_text(given->epic_id),
        .task_id = slice_text(given->task_id),
        .has_task_id = slice_text(given->task_id).size > 0,
        .agent_name = slice_text(given->agent_name),
        .reviewer_id = slice_text(given->reviewer_id),
        .has_reviewer_id = slice_text(given->reviewer_id).size > 0,
        .review_duration_seconds = given->review_duration_seconds,
        .has_review_duration_seconds = given->_review_duration_seconds_case != 0,
        .agent_output_sha = slice_text(given->agent_output_sha),
        .has_agent_output_sha = slice_text(given->agent_output_sha).size > 0,
        .approved_output_sha = slice_text(given->approved_output_sha),
        .has_approved_output_sha = slice_text(given->approved_output_sha).size > 0,
        .reviewer_comment = slice_text(given->reviewer_comment),
        .correction_summary = slice_text(given->correction_summary),
        .correction_diff = slice_text(given->correction_diff),
        .correction_diff_path = slice_text(given->correction_diff_path),
    };
    input->time = time_given(given->created_at);
    view->created_at_us = input->time.created_at_us;
    view->has_created_at = input->time.is_given;
    if (UNEXPECTED(!decision_outcome_from_wire((int32_t)given->decision, &view->decision))) {
        return ERR_INTERNAL; /* check_request refuses it */
    }
    if (view->decision == DECISION_OUTCOME_REJECTED && view->has_approved_output_sha) {
        fault_add(ctx->fault, SLICE("decision.approved_output_sha"),
                  "given with REJECTED; expected none, since nothing was approved");
    }
    return read_tags(ctx->arena, given, view);
}

/* Takes a vector by a model of the caller. */
static enum err take_vector(const struct service *service, const Errata__V1__DecisionVector *vector,
                            struct decision_input *input)
{
    struct embedding embedding;
    enum err err = embedding_of_values(service->ctx, SLICE("vector.values"), vector->values,
                                       vector->n_values, &embedding);

    if (err == OK) {
        err = fault_result(service->ctx->fault);
    }
    if (err != OK) {
        return err;
    }
    input->kind = THEME_OF_CALLER;
    input->space = arena_printf(service->ctx->arena, "%.*s:%zu", SPACE_BYTES_MAX, vector->model,
                                vector->n_values);
    return embedding.width == 0 ? OK
                                : theme_make(service->ctx->arena, embedding.values, embedding.width,
                                             NULL, &input->theme);
}

/* Makes the vector of words; `input->evaluator` has what they say. */
static enum err embed(const struct service *service, struct org_id org, struct slice words,
                      struct decision_input *input)
{
    struct embedding embedding;
    enum err err = embedding_of_text(service, org, words, &embedding);

    if (err != OK) {
        return err;
    }
    input->kind = embedding.has_model ? THEME_OF_MODEL : THEME_OF_NGRAMS;
    input->space = embedding.space;
    return embedding.width == 0 ? OK
                                : theme_make(service->ctx->arena, embedding.values, embedding.width,
                                             &input->evaluator.signals, &input->theme);
}

/* Makes the theme of the decision's words, of the caller's vector or by the embedder. */
static enum err make_theme(struct decision_service_record_decision_call *call,
                           struct decision_input *input)
{
    const Errata__V1__DecisionVector *vector = call->request->vector;
    struct slice words = decision_words(call->ctx->arena, input->view.reviewer_comment,
                                        input->view.correction_summary);
    enum err err = OK;

    if (vector != NULL) {
        err = take_vector(call->service, vector, input);
        if (!evaluator_is_evidence(&input->evaluator)) {
            input->theme.width = 0;
        }
        return err;
    }
    err = fault_result(call->ctx->fault);
    return err != OK || !evaluator_is_evidence(&input->evaluator)
               ? err
               : embed(call->service, call->org, words, input);
}

enum err
decision_service_record_decision_prepare(struct decision_service_record_decision_call *call)
{
    struct decision_input *input = arena_calloc(call->ctx->arena, 1, sizeof(*input));
    enum err err = input != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = read_decision(call->ctx, call->request->decision, input);
    }
    if (err == OK) {
        err = decision_read_signals(call->ctx->arena, input);
    }
    if (err == OK) {
        err = make_theme(call, input);
    }
    if (err == OK) {
        input->key = &call->service->env->exposure_key;
        input->exposure_ref_count = call->request->n_exposure_refs;
        err = texts_copy(call->ctx->arena, call->request->exposure_refs,
                         call->request->n_exposure_refs, &input->exposure_refs);
    }
    if (err == OK) {
        call->prepared = input;
    }
    return err;
}

enum err decision_service_record_decision_write(struct decision_service_record_decision_call *call)
{
    const struct decision_request request = {
        .org = call->org,
        .caller = caller_of(call->service),
        .input = call->prepared,
    };
    struct decision_stored stored;
    struct log_head before;
    uint64_t proposal_seq = 0;
    enum err err = log_read_head(call->txn, call->org, &before);

    if (err == OK) {
        err = decision_record(call->ctx, call->txn, &request, &stored);
    }
    if (err == OK && !stored.is_repeat) {
        err = generation_expedite(call->ctx, call->txn, call->org, &request.caller, stored.seq,
                                  &proposal_seq);
    }
    if (err == OK) {
        uint64_t last_seq = proposal_seq != 0 ? proposal_seq : stored.seq;

        call->result->first_seq = stored.is_repeat ? stored.seq : before.last_seq + 1;
        call->result->count = (uint32_t)(last_seq - call->result->first_seq + 1);
    }
    return err;
}

enum err decision_find_recorded(struct store_txn *txn, const struct work_result *result,
                                uint64_t *ret_seq, struct decision_view *ret_view)
{
    struct event event;
    enum err err = ERR_NOT_FOUND;

    for (uint32_t i = 0; i < result->count && err == ERR_NOT_FOUND; i++) {
        *ret_seq = result->first_seq + i;
        err = decision_read(txn, result->org, *ret_seq, &event, ret_view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Sets the proposal that was made of the cluster of a decision. */
static enum err set_proposal(struct store_txn *txn, struct org_id org, uint64_t cluster_seq,
                             struct evaluation_view *view)
{
    struct proposal proposal;
    enum err err =
        cluster_seq != 0 ? proposal_of_cluster(txn, org, cluster_seq, &proposal) : ERR_NOT_FOUND;

    if (err == OK) {
        view->proposal_id = proposal.view.id;
        view->has_proposal_id = true;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Sets the proposal that the write of the decision `seq` made, which is its next event. */
static enum err set_expedited(struct decision_service_record_decision_call *call, uint64_t seq,
                              uint64_t cluster_seq, struct evaluation_view *view)
{
    struct proposal proposal;
    enum err err = proposal_read(call->txn, call->result->org, seq + 1, &proposal);

    if (err == OK && proposal.view.expedited && proposal.view.cluster_seq == cluster_seq) {
        view->proposal_id = proposal.view.id;
        view->has_proposal_id = true;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err decision_service_record_decision_answer(struct decision_service_record_decision_call *call)
{
    struct record_decision_response_view response = {.has_evaluation = true};
    struct evaluation_view evaluation;
    struct decision_view view;
    uint64_t seq = 0;
    enum err err = decision_find_recorded(call->txn, call->result, &seq, &view);

    if (err == OK) {
        err = decision_evaluation(call->ctx->arena, call->txn, call->result->org, seq, &evaluation);
    }
    if (err == OK) {
        err = set_expedited(call, seq, view.cluster_seq, &evaluation);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    response.feedback_id = view.id;
    if (!view_encode(&evaluation_view_type, &evaluation, call->ctx->arena, &response.evaluation)) {
        return ERR_MEMORY;
    }
    record_decision_response_view_write(&response, call->body);
    return OK;
}

/* Appends the evaluations of a decision, each with the proposal of its cluster. */
static enum err put_evaluations(struct decision_service_get_decision_call *call, uint64_t seq,
                                uint64_t cluster_seq)
{
    struct evaluation_list *list = arena_calloc(call->ctx->arena, 1, sizeof(*list));
    struct evaluation_view effective;
    enum err err = list == NULL ? ERR_MEMORY
                                : evaluation_in_effect(call->ctx->arena, call->txn, call->org, seq,
                                                       &effective);

    if (err == OK) {
        err = evaluations_read(call->ctx->arena, call->txn, call->org, seq, list);
    }
    if (err == OK) {
        err = set_proposal(call->txn, call->org, cluster_seq, &effective);
    }
    if (err != OK) {
        return err;
    }
    evaluation_view_put(&effective, GET_DECISION_RESPONSE_EVALUATION_FIELD, call->body);
    for (size_t i = 0; i < list->count; i++) {
        list->items[i].proposal_id = effective.proposal_id;
        list->items[i].has_proposal_id = effective.has_proposal_id;
        evaluation_view_put(&list->items[i], GET_DECISION_RESPONSE_EVALUATIONS_FIELD, call->body);
    }
    return OK;
}

/* Appends a decision without what is private, and with its retraction. */
static enum err put_decision(struct store_txn *txn, struct org_id org, uint64_t seq,
                             const struct decision_view *view, uint32_t field, struct buffer *body)
{
    struct decision_view shown = *view;
    struct retraction retraction;
    enum err err = retraction_read(txn, org, seq, &retraction);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    shown.theme = slice_of(NULL, 0);
    if (retraction.seq != 0) {
        shown.retracted_at_us = retraction.retracted_at_us;
        shown.has_retracted_at = true;
        shown.retracted_by = retraction.retracted_by;
        shown.has_retracted_by = retraction.retracted_by.size > 0;
        shown.retraction_reason = retraction.reason;
    }
    decision_view_put(&shown, field, body);
    return OK;
}

enum err decision_find_feedback(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                const char *feedback_id, uint64_t *ret_seq)
{
    enum err err = decision_find_id(txn, org, slice_text(feedback_id), ret_seq);

    return err != ERR_NOT_FOUND ? err
                                : fault_say(ctx->fault, err,
                                            "feedback_id: not found in this organisation; expected "
                                            "the id of a decision");
}

enum err decision_service_get_decision_read(struct decision_service_get_decision_call *call)
{
    const Errata__V1__GetDecisionRequest *request = call->request;
    struct decision_view view;
    struct event event;
    uint64_t seq = 0;
    enum err err = OK;

    if (request->id_case == ERRATA__V1__GET_DECISION_REQUEST__ID_FEEDBACK_ID) {
        err = decision_find_feedback(call->ctx, call->txn, call->org, request->feedback_id, &seq);
    } else if (request->id_case == ERRATA__V1__GET_DECISION_REQUEST__ID_DECISION_ID) {
        err = decision_find(call->txn, call->org, slice_text(request->decision_id), &seq);
    } else {
        fault_add(call->ctx->fault, SLICE("id"), "missing; expected decision_id or feedback_id");
        err = ERR_INVALID;
    }
    if (err == OK) {
        err = decision_read(call->txn, call->org, seq, &event, &view);
    }
    if (err == ERR_NOT_FOUND && call->ctx->fault->message.size == 0) {
        return fault_say(call->ctx->fault, err,
                         "decision_id: not found in this organisation; expected the id of a "
                         "decision");
    }
    if (err == OK) {
        err = put_decision(call->txn, call->org, seq, &view, GET_DECISION_RESPONSE_DECISION_FIELD,
                           call->body);
    }
    if (err == OK) {
        err = put_evaluations(call, seq, view.cluster_seq);
    }
    return err;
}

/* Appends a page of decisions, each as field `field`. */
static enum err put_decisions(struct store_txn *txn, struct decision_list *list, uint32_t field)
{
    struct decision_view view;
    uint64_t seq = 0;
    enum err err = decision_list_begin(txn, list);

    while (err == OK) {
        err = decision_list_next(txn, list, &seq, &view);
        if (err == OK) {
            err = put_decision(txn, list->org, seq, &view, field, list->page->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err decision_service_list_decisions_read(struct decision_service_list_decisions_call *call)
{
    struct decision_list list = {
        .org = call->org, .agent = slice_text(call->request->agent_name), .page = call->page};

    return put_decisions(call->txn, &list, LIST_DECISIONS_RESPONSE_DECISIONS_FIELD);
}

enum err
decision_service_list_agent_decisions_read(struct decision_service_list_agent_decisions_call *call)
{
    struct decision_list list = {
        .org = call->org, .agent = slice_text(call->request->agent_name), .page = call->page};

    if (call->request->page_size == 0) {
        list.page->size = AGENT_DECISIONS_DEFAULT;
    }
    return put_decisions(call->txn, &list, LIST_AGENT_DECISIONS_RESPONSE_DECISIONS_FIELD);
}

enum err decision_service_evaluate_read(struct decision_service_evaluate_call *call)
{
    struct evaluation_view view;
    struct decision_view decision;
    struct event event;
    uint64_t seq = 0;
    enum err err =
        decision_find_feedback(call->ctx, call->txn, call->org, call->request->feedback_id, &seq);

    if (err == OK) {
        err = decision_evaluate(call->ctx, call->txn, call->org, seq, &view);
    }
    if (err == OK) {
        err = decision_read(call->txn, call->org, seq, &event, &decision);
    }
    if (err == OK) {
        err = set_proposal(call->txn, call->org, decision.cluster_seq, &view);
    }
    if (err == OK) {
        evaluation_view_put(&view, EVALUATE_RESPONSE_EVALUATION_FIELD, call->body);
    }
    return err;
}

/* Appends each match. */
static enum err put_matches(struct decision_service_find_similar_call *call,
                            const struct similar_matches *matches)
{
    enum err err = OK;

    for (size_t i = 0; i < matches->count && err == OK; i++) {
        struct decision_view view;
        struct event event;

        err = decision_read(call->txn, call->org, matches->items[i].seq, &event, &view);
        if (err == OK) {
            const struct similar_decision_view similar = {.feedback_id = view.id,
                                                          .score = matches->items[i].shown,
                                                          .cosine = matches->items[i].cosine};

            similar_decision_view_put(&similar, FIND_SIMILAR_RESPONSE_SIMILAR_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Makes the theme of a text or vector of the request. */
static enum err make_query(struct decision_service_find_similar_call *call,
                           struct decision_theme *ret_theme)
{
    const Errata__V1__FindSimilarRequest *request = call->request;
    struct decision_input *input = arena_calloc(call->ctx->arena, 1, sizeof(*input));
    struct decision_view view = {.cluster_seq = 0};
    enum err err = input == NULL ? ERR_MEMORY : OK;

    if (err == OK && request->about_case == ERRATA__V1__FIND_SIMILAR_REQUEST__ABOUT_VECTOR) {
        err = take_vector(call->service, request->vector, input);
    } else if (err == OK) {
        struct slice words = slice_text(request->text);

        err = comment_signals_read(call->ctx->arena, words, &input->evaluator.signals);
        if (err == OK) {
            err = embed(call->service, call->org, words, input);
        }
    }
    if (err == OK) {
        err = decision_theme_write(call->ctx->arena, input, &view.theme);
    }
    return err != OK ? err : decision_theme_read(&view, ret_theme);
}

/* Reads what decisions are compared with. */
static enum err read_about(struct decision_service_find_similar_call *call,
                           struct similar_query *query)
{
    const Errata__V1__FindSimilarRequest *request = call->request;
    bool has_text = request->about_case == ERRATA__V1__FIND_SIMILAR_REQUEST__ABOUT_TEXT &&
                    slice_text(request->text).size > 0;
    bool has_vector = request->about_case == ERRATA__V1__FIND_SIMILAR_REQUEST__ABOUT_VECTOR;

    if (request->about_case == ERRATA__V1__FIND_SIMILAR_REQUEST__ABOUT_FEEDBACK_ID) {
        return decision_find_feedback(call->ctx, call->txn, call->org, request->feedback_id,
                                      &query->seq);
    }
    if (!has_text && !has_vector) {
        fault_add(call->ctx->fault, SLICE("about"),
                  "missing; expected feedback_id, text or vector");
        return ERR_INVALID;
    }
    return make_query(call, &query->theme);
}

enum err decision_service_find_similar_read(struct decision_service_find_similar_call *call)
{
    const Errata__V1__FindSimilarRequest *request = call->request;
    struct similar_matches *matches = arena_calloc(call->ctx->arena, 1, sizeof(*matches));
    struct similar_query query = {
        .org = call->org,
        .threshold = request->_threshold_case != 0 ? request->threshold : THEME_SAME_SHOWN,
        .limit = request->_limit_case != 0 ? request->limit : SIMILAR_LIMIT_DEFAULT,
        .agent = slice_text(request->agent_name),
        .cancelled = &call->service->cancelled,
    };
    enum err err = matches == NULL ? ERR_MEMORY : read_about(call, &query);

    if (err == OK) {
        err = decision_find_similar(call->ctx->arena, call->txn,
                                    call->service->env->similar_decisions, &query, matches);
    }
    if (err == OK) {
        err = put_matches(call, matches);
    }
    if (err == OK) {
        wire_put_bytes_given(call->body, FIND_SIMILAR_RESPONSE_SPACE_FIELD, matches->space);
        wire_put_varint_given(call->body, FIND_SIMILAR_RESPONSE_INCOMPLETE_FIELD, matches->is_cut);
    }
    return err;
}
