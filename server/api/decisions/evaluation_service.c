/*
 * evaluation_service.c: the methods of DecisionService by which others than the server classify a
 * decision, and their statistics.
 */
#include "server/api/decisions/decision_wire.h"
#include "server/domain/analytics/proportions.h"
#include "server/domain/decisions/evaluations.h"
#include "server/domain/settings/decision_settings.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/decision_service.handlers.h>
#include <errata/v1/decision_service.views.h>

static enum err read_submitted(struct decision_service_submit_evaluation_call *call,
                               struct evaluation_request *request)
{
    const Errata__V1__Evaluation *given = call->request->evaluation;

    *request = (struct evaluation_request){
        .org = call->org,
        .caller = caller_of(call->service),
        .confidence = given->confidence,
        .evaluator_id = slice_text(given->evaluator_id),
        .rationale = slice_text(given->rationale),
    };
    if (UNEXPECTED(!uuid_parse(slice_text(call->request->feedback_id), &request->feedback_id)) ||
        UNEXPECTED(
            !decision_class_from_wire((int32_t)given->classification, &request->classification)) ||
        UNEXPECTED(!proposed_action_from_wire((int32_t)given->proposed_action,
                                              &request->proposed_action))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (slice_starts_with(request->evaluator_id, SLICE(EVALUATOR_OWN_PREFIX))) {
        fault_add(call->ctx->fault, SLICE("evaluation.evaluator_id"),
                  "the prefix `" EVALUATOR_OWN_PREFIX
                  "` is reserved for the server; expected another name");
    }
    if (!(request->confidence >= 0 && request->confidence <= 1)) {
        fault_add(call->ctx->fault, SLICE("evaluation.confidence"),
                  "not a share; expected a number from 0 to 1");
    }
    return fault_result(call->ctx->fault);
}

enum err
decision_service_submit_evaluation_write(struct decision_service_submit_evaluation_call *call)
{
    struct evaluation_request request;
    enum err err = read_submitted(call, &request);

    if (err == OK) {
        err = decision_find_feedback(call->ctx, call->txn, call->org, call->request->feedback_id,
                                     &request.decision_seq);
    }
    if (err == OK) {
        err = evaluation_submit(call->ctx, call->txn, &request, &call->result->first_seq);
    }
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

/* Appends the evaluation that an event stored. */
static enum err put_stored(struct store_txn *txn, const struct work_result *result, uint32_t field,
                           struct buffer *body)
{
    struct evaluation_view view;
    struct event event;
    enum err err = log_read(txn, result->org, result->first_seq, &event);

    if (err == OK) {
        err = evaluation_of_event(&event, &view);
    }
    if (err == OK) {
        evaluation_view_put(&view, field, body);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err
decision_service_submit_evaluation_answer(struct decision_service_submit_evaluation_call *call)
{
    return put_stored(call->txn, call->result, SUBMIT_EVALUATION_RESPONSE_EVALUATION_FIELD,
                      call->body);
}

enum err
decision_service_override_evaluation_write(struct decision_service_override_evaluation_call *call)
{
    struct evaluation_request request = {
        .org = call->org,
        .caller = caller_of(call->service),
        .rationale = slice_text(call->request->reason),
    };
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->feedback_id), &request.feedback_id)) ||
        UNEXPECTED(!decision_class_from_wire((int32_t)call->request->classification,
                                             &request.classification))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = decision_find_feedback(call->ctx, call->txn, call->org, call->request->feedback_id,
                                 &request.decision_seq);
    if (err == OK) {
        err = evaluation_override(call->ctx, call->txn, &request, &call->result->first_seq);
    }
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err
decision_service_override_evaluation_answer(struct decision_service_override_evaluation_call *call)
{
    return put_stored(call->txn, call->result, OVERRIDE_EVALUATION_RESPONSE_EVALUATION_FIELD,
                      call->body);
}

/* Sets the share of classes without an override, and its interval; they are absent if there are no classes. */
static void set_accuracy(const struct evaluator_record *record, struct evaluator_report_view *view)
{
    const struct proportion kept = {.success_count = record->evaluations - record->overridden,
                                    .trial_count = record->evaluations};
    struct proportion_interval interval;

    if (proportion_interval_of(&kept, &interval)) {
        view->has_accuracy = view->has_accuracy_low = view->has_accuracy_high = true;
        view->accuracy = interval.estimate;
        view->accuracy_low = interval.low;
        view->accuracy_high = interval.high;
    }
}

enum err
decision_service_get_evaluator_report_read(struct decision_service_get_evaluator_report_call *call)
{
    struct evaluator_list *list = arena_calloc(call->ctx->arena, 1, sizeof(*list));
    struct decision_settings settings;
    struct slice selected = SLICE(EVALUATOR_ID);
    enum err err =
        list == NULL ? ERR_MEMORY : decision_settings_read(call->txn, call->org, &settings);

    if (err == OK) {
        err = evaluators_read(call->txn, call->org, list);
    }
    if (err != OK) {
        return err;
    }
    selected = settings.evaluator_id.size > 0 ? settings.evaluator_id : selected;
    for (size_t i = 0; i < list->count; i++) {
        const struct evaluator_record *record = &list->items[i];
        struct evaluator_report_view view = {
            .evaluator_id = record->evaluator_id,
            .takes_effect = slice_equal(record->evaluator_id, selected),
            .evaluations = record->evaluations,
            .judged = record->judged,
            .overridden = record->overridden,
        };

        set_accuracy(record, &view);
        evaluator_report_view_put(&view, GET_EVALUATOR_REPORT_RESPONSE_EVALUATORS_FIELD,
                                  call->body);
    }
    return OK;
}
