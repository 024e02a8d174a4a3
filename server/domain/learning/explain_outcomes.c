/*
 * explain_outcomes.c: the outcomes that cited an exposure, and which extractions were corrected since.
 */
#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/learning/explain_internal.h"

#include <errata/v1/event.views.h>
#include <errata/v1/learning_service.fields.h>
#include <errata/v1/learning_service.views.h>

static void name(struct exposure_outcome_view *view, struct slice document_id,
                 struct slice draft_order_id)
{
    view->document_id = document_id;
    view->has_document_id = document_id.size > 0;
    view->draft_order_id = draft_order_id;
    view->has_draft_order_id = draft_order_id.size > 0;
}

static enum err describe_extraction(struct explaining *explaining, struct store_txn *txn,
                                    const struct event *event, struct exposure_outcome_view *view)
{
    struct ctx *ctx = explaining->ctx;
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

static enum err put_outcome(struct explaining *explaining, struct store_txn *txn, uint64_t seq)
{
    struct exposure_outcome_view view = {.has_created_at = true};
    struct event event;
    enum err err = log_read(txn, explaining->query->org, seq, &event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view.event_id = event.id;
    view.kind = (enum event_kind)event.kind;
    view.created_at_us = event.created_at_us;
    view.actor_user_id = event.actor_user_id;
    view.has_actor_user_id = event.actor_user_id.size > 0;
    err = event.kind == EVENT_EXTRACTION_RECORDED
              ? describe_extraction(explaining, txn, &event, &view)
              : describe_uses(&event, &view);
    if (err == OK) {
        exposure_outcome_view_put(&view, EXPLAIN_EXPOSURE_RESPONSE_OUTCOMES_FIELD,
                                  explaining->body);
    }
    return err;
}

enum err explain_outcomes(struct explaining *explaining, struct store_txn *txn)
{
    struct scan scan = {.rows_max = 0};
    uint64_t seq = 0;
    enum err err = OK;

    if (explaining->exposure_seq == 0) {
        return OK;
    }
    err = exposure_scan_outcomes(&scan, txn, explaining->query->org, explaining->exposure_seq,
                                 EXPLAIN_OUTCOMES_MAX);
    while (err == OK) {
        err = exposure_next_outcome(&scan, &seq);
        if (err == OK) {
            err = put_outcome(explaining, txn, seq);
        }
    }
    explaining->is_incomplete = explaining->is_incomplete || scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}
