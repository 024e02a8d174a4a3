/*
 * outcomes.c: see outcomes.h.
 */
#include "server/domain/learning/outcomes.h"

#include "server/domain/exposures/exposures.h"

#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/turns/turns.h"

#include <errata/v1/decision.views.h>
#include <errata/v1/event.views.h>
#include <errata/v1/review.views.h>
#include <errata/v1/verdict_submission.views.h>

static void name(struct exposure_outcome_view *view, struct slice document_id,
                 struct slice draft_order_id)
{
    view->document_id = document_id;
    view->has_document_id = document_id.size > 0;
    view->draft_order_id = draft_order_id;
    view->has_draft_order_id = draft_order_id.size > 0;
}

static enum err describe_extraction(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event, struct exposure_outcome_view *view)
{
    struct extraction_entry *entry = arena_alloc(ctx->arena, sizeof(*entry));
    struct event correction;
    enum err err = entry == NULL ? ERR_MEMORY : OK;

    if (err == OK) {
        err = extraction_entry_read(ctx->arena, txn, event->org, event->seq, entry);
    }
    if (err == OK) {
        name(view, entry->document_id, entry->draft_order_id);
    }
    if (err == OK && entry->record.corrected_by_seq != 0) {
        err = log_read(txn, event->org, entry->record.corrected_by_seq, &correction);
        view->corrected_by_event_id = correction.id;
        view->has_corrected_by_event_id = true;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err describe_uses(const struct event *event, struct exposure_outcome_view *view)
{
    struct mapping_applied_view applied;
    enum err err = mapping_applied_view_read(event->facts, &applied);

    if (err == OK) {
        name(view, applied.document_id, applied.draft_order_id);
    }
    return err;
}

static enum err describe_review(struct ctx *ctx, const struct event *event,
                                struct exposure_outcome_view *view)
{
    struct review_view review;
    struct reviewed_exposure_view cited;
    struct slice message = {NULL, 0};
    struct buffer run;
    uint32_t given = 0;
    enum err err = review_view_read(event->facts, &review);

    if (err != OK) {
        return err;
    }
    view->run_id = review.run_id;
    view->has_run_id = true;
    buffer_init(&run, ctx->arena, 0);
    while (err == OK && view_next(&review.exposures.run, &message)) {
        uint64_t signal = 0;

        err = reviewed_exposure_view_read(message, &cited);
        while (err == OK && view_next_number(&cited.recurred.run, &signal)) {
            if (signal < EXPOSURE_SIGNALS_END && (given >> signal & 1u) == 0) {
                exposure_outcome_view_add_recurred(&run, (enum review_signal)signal);
                given |= 1u << signal;
            }
        }
    }
    view->recurred.run = buffer_slice(&run);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
}

static enum err describe_turn(struct store_txn *txn, const struct event *event,
                              struct exposure_outcome_view *view)
{
    struct turn_record record;
    struct turn_hash hash;
    struct turn_view turn;
    enum err err = turn_view_read(event->facts, &turn);

    if (err == OK) {
        hash = turn_hash_of(turn.session_id, turn.turn_id);
        err = turn_read(txn, event->org, &hash, &record);
    }
    if (err != OK || !turn_status_from_wire((int32_t)record.status, &view->turn_status)) {
        return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view->session_id = turn.session_id;
    view->has_session_id = true;
    view->turn_id = turn.turn_id;
    view->has_turn_id = true;
    return OK;
}

static enum err describe_decision(const struct event *event, struct exposure_outcome_view *view)
{
    struct decision_view decision;
    enum err err = decision_view_read(event->facts, &decision);

    if (err == OK) {
        view->decision_id = decision.decision_id;
        view->has_decision_id = true;
        view->decision = decision.decision;
    }
    return err;
}

static enum err describe_verdict(const struct event *event, struct exposure_outcome_view *view)
{
    struct verdict_submission_view submission;
    enum err err = event->kind == EVENT_VERDICT_SUBMITTED
                       ? verdict_submission_view_read(event->facts, &submission)
                       : ERR_CORRUPT;

    if (err == OK) {
        view->receipt_id = submission.receipt_id;
        view->has_receipt_id = true;
        view->correct_verdict = submission.correct_verdict;
    }
    return err;
}

enum err outcome_describe(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq,
                          struct exposure_outcome_view *ret_view)
{
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_view = (struct exposure_outcome_view){
        .event_id = event.id,
        .kind = (enum event_kind)event.kind,
        .created_at_us = event.created_at_us,
        .has_created_at = true,
        .actor_user_id = event.actor_user_id,
        .has_actor_user_id = event.actor_user_id.size > 0,
    };
    if (event.kind == EVENT_EXTRACTION_RECORDED) {
        return describe_extraction(ctx, txn, &event, ret_view);
    }
    if (event.kind == EVENT_REVIEW_SUBMITTED) {
        return describe_review(ctx, &event, ret_view);
    }
    if (event.kind == EVENT_TURN_RECORDED) {
        return describe_turn(txn, &event, ret_view);
    }
    if (event.kind == EVENT_DECISION_RECORDED) {
        return describe_decision(&event, ret_view);
    }
    return event.kind == EVENT_MAPPING_APPLIED ? describe_uses(&event, ret_view)
                                               : describe_verdict(&event, ret_view);
}

enum err evidence_describe(struct store_txn *txn, struct org_id org,
                           const struct artifact_evidence_item *item,
                           struct evidence_event_view *ret_view)
{
    struct verdict_submission_view submission;
    struct event event;
    enum err err = log_read(txn, org, item->event_seq, &event);

    if (err == OK) {
        err = verdict_submission_view_read(event.facts, &submission);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_view = (struct evidence_event_view){
        .event_id = event.id,
        .seq = event.seq,
        .kind = (enum event_kind)event.kind,
        .actor_user_id = event.actor_user_id,
        .has_actor_user_id = event.actor_user_id.size > 0,
        .annotator_kind = (enum annotator_kind)event.annotator,
        .created_at_us = event.created_at_us,
        .has_created_at = true,
        .retracted = item->retraction_seq != 0,
        .receipt_id = submission.receipt_id,
        .has_receipt_id = true,
    };
    return OK;
}
