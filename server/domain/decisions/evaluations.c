/*
 * evaluations.c: see evaluations.h. evaluations_apply.c counts them.
 */
#include "server/domain/decisions/evaluations.h"

#include "server/domain/decisions/decisions_internal.h"
#include "server/domain/decisions/keys.h"
#include "server/domain/events/retraction.h"
#include "server/domain/settings/decision_settings.h"
#include "store/scan.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* --- writing --- */

/* Returns whether another evaluator may be added: one that submitted before only replaces its class. */
static enum err check_room(struct ctx *ctx, struct store_txn *txn,
                           const struct evaluation_request *request)
{
    struct decision_seqs seqs;
    struct key own =
        key_decision_evaluation(request->org, request->decision_seq, request->evaluator_id);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_DECISION_EVALUATION, key_slice(&own), &value);

    if (err != ERR_NOT_FOUND) {
        return err;
    }
    err = decision_evaluation_seqs(txn, request->org, request->decision_seq, &seqs);
    if (err == OK && seqs.count == EVALUATORS_OF_DECISION_MAX) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "evaluation.evaluator_id: the decision has %d evaluators; expected one of "
                         "them",
                         EVALUATORS_OF_DECISION_MAX);
    }
    return err;
}

/* The counts of evaluators do not include a retracted decision. */
static enum err check_retraction(struct ctx *ctx, struct store_txn *txn,
                                 const struct evaluation_request *request)
{
    uint64_t retraction_seq = 0;
    enum err err = retraction_find(txn, request->org, request->decision_seq, &retraction_seq);

    return err != OK || retraction_seq == 0
               ? err
               : fault_say(ctx->fault, ERR_PRECONDITION,
                           "feedback_id: the decision was retracted; expected another one");
}

static enum err append(struct ctx *ctx, struct store_txn *txn,
                       const struct evaluation_request *request, struct event_draft *draft,
                       uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    const struct slice none = {NULL, 0};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    struct decision_view view;
    struct event event;
    enum err err = decision_read(txn, request->org, request->decision_seq, &event, &view);

    if (err == OK) {
        err = actor_resolve(ctx, &request->caller, none, none, false, &draft->actor_user_id);
    }
    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, none, none, &annotator);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, draft);
    }
    if (err != OK) {
        return err;
    }
    draft->annotator = (enum annotator)annotator;
    event_draft_add_subject(draft, SUBJECT_DECISION, view.decision_id);
    return event_draft_append(ctx, txn, draft, decisions_apply, ret_seq);
}

enum err evaluation_submit(struct ctx *ctx, struct store_txn *txn,
                           const struct evaluation_request *request, uint64_t *ret_seq)
{
    struct event_draft draft = {.org = request->org, .kind = EVENT_EVALUATION_SUBMITTED};
    const struct evaluation_submitted_view view = {
        .feedback_id = request->feedback_id,
        .decision_seq = request->decision_seq,
        .evaluator_id = request->evaluator_id,
        .classification = request->classification,
        .confidence = request->confidence,
        .proposed_action = request->proposed_action,
        .rationale = request->rationale,
    };
    enum err err = check_retraction(ctx, txn, request);

    if (err == OK) {
        err = check_room(ctx, txn, request);
    }
    if (err == OK && !view_encode_parts(&evaluation_submitted_view_type, &view, ctx->arena,
                                        &draft.facts, &draft.content)) {
        err = ERR_MEMORY;
    }
    return err != OK ? err : append(ctx, txn, request, &draft, ret_seq);
}

enum err evaluation_override(struct ctx *ctx, struct store_txn *txn,
                             const struct evaluation_request *request, uint64_t *ret_seq)
{
    struct event_draft draft = {.org = request->org, .kind = EVENT_EVALUATION_OVERRIDDEN};
    const struct evaluation_overridden_view view = {
        .feedback_id = request->feedback_id,
        .decision_seq = request->decision_seq,
        .classification = request->classification,
        .reason = request->rationale,
    };
    enum err err = check_retraction(ctx, txn, request);

    if (err == OK && !view_encode_parts(&evaluation_overridden_view_type, &view, ctx->arena,
                                        &draft.facts, &draft.content)) {
        err = ERR_MEMORY;
    }
    return err != OK ? err : append(ctx, txn, request, &draft, ret_seq);
}

/* --- reading --- */

static enum err read_submitted(const struct event *event, struct evaluation_view *view)
{
    struct evaluation_submitted_view submitted;
    enum err err =
        view_read_parts(&evaluation_submitted_view_type, event->facts, event->content, &submitted);

    *view = (struct evaluation_view){
        .classification = submitted.classification,
        .confidence = submitted.confidence,
        .proposed_action = submitted.proposed_action,
        .evaluator_id = submitted.evaluator_id,
        .rationale = submitted.rationale,
    };
    return err;
}

static enum err read_override(const struct event *event, struct evaluation_view *view)
{
    struct evaluation_overridden_view overridden;
    enum err err = view_read_parts(&evaluation_overridden_view_type, event->facts, event->content,
                                   &overridden);

    *view = (struct evaluation_view){
        .classification = overridden.classification,
        .confidence = 1,
        .proposed_action = decision_action_of_class(overridden.classification),
        .evaluator_id = event->actor_user_id,
        .is_override = true,
        .rationale = overridden.reason,
    };
    return err;
}

enum err evaluation_of_event(const struct event *event, struct evaluation_view *ret_view)
{
    if (event->kind == EVENT_EVALUATION_SUBMITTED) {
        return read_submitted(event, ret_view);
    }
    return event->kind == EVENT_EVALUATION_OVERRIDDEN ? read_override(event, ret_view)
                                                      : ERR_CORRUPT;
}

enum err decision_read_evaluation(struct store_txn *txn, struct org_id org, enum store_table table,
                                  const struct key *key, struct evaluation_view *ret_view)
{
    struct slice value = {NULL, 0};
    struct event event;
    uint64_t seq = 0;
    enum err err = store_get(txn, table, key_slice(key), &value);

    if (err != OK) {
        return err;
    }
    err = log_read_id_row(value, &seq);
    if (err == OK) {
        err = log_read(txn, org, seq, &event);
    }
    if (err == OK) {
        err = evaluation_of_event(&event, ret_view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err evaluation_in_effect(struct arena *arena, struct store_txn *txn, struct org_id org,
                              uint64_t decision_seq, struct evaluation_view *ret_view)
{
    struct key key = key_decision_override(org, decision_seq);
    struct decision_settings settings;
    enum err err = decision_read_evaluation(txn, org, TABLE_DECISION_OVERRIDE, &key, ret_view);

    if (err != ERR_NOT_FOUND) {
        return err;
    }
    err = decision_settings_read(txn, org, &settings);
    if (err != OK) {
        return err;
    }
    if (settings.evaluator_id.size > 0) {
        key = key_decision_evaluation(org, decision_seq, settings.evaluator_id);
        err = decision_read_evaluation(txn, org, TABLE_DECISION_EVALUATION, &key, ret_view);
        if (err != ERR_NOT_FOUND) {
            return err;
        }
    }
    return decision_evaluation(arena, txn, org, decision_seq, ret_view);
}

enum err decision_evaluation_seqs(struct store_txn *txn, struct org_id org, uint64_t decision_seq,
                                  struct decision_seqs *ret_seqs)
{
    const struct scan_range range = {.table = TABLE_DECISION_EVALUATION,
                                     .prefix = key_decision_evaluation_prefix(org, decision_seq),
                                     .order = STORE_ASCENDING,
                                     .rows_max = EVALUATORS_OF_DECISION_MAX};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    ret_seqs->count = 0;
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = log_read_id_row(value, &ret_seqs->items[ret_seqs->count]);
        }
        ret_seqs->count += err == OK ? 1 : 0;
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err evaluations_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                          uint64_t decision_seq, struct evaluation_list *ret_list)
{
    struct key key = key_decision_override(org, decision_seq);
    struct decision_seqs seqs;
    struct event event;
    enum err err = decision_evaluation(arena, txn, org, decision_seq, &ret_list->items[0]);

    ret_list->count = 1;
    if (err == OK) {
        err = decision_evaluation_seqs(txn, org, decision_seq, &seqs);
    }
    for (size_t i = 0; err == OK && i < seqs.count; i++) {
        err = log_read(txn, org, seqs.items[i], &event);
        if (err == OK) {
            err = evaluation_of_event(&event, &ret_list->items[ret_list->count]);
        }
        ret_list->count += err == OK ? 1 : 0;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    err = decision_read_evaluation(txn, org, TABLE_DECISION_OVERRIDE, &key,
                                   &ret_list->items[ret_list->count]);
    ret_list->count += err == OK ? 1 : 0;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err evaluators_read(struct store_txn *txn, struct org_id org, struct evaluator_list *ret_list)
{
    const struct scan_range range = {.table = TABLE_EVALUATOR,
                                     .prefix = key_org(org),
                                     .order = STORE_ASCENDING,
                                     .rows_max = EVALUATORS_REPORTED_MAX};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    ret_list->count = 0;
    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = record_decode_evaluator(value, &ret_list->items[ret_list->count]);
            ret_list->count += err == OK ? 1 : 0;
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}
