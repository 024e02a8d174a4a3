/*
 * retract.c: reverses the effect of a feedback event, from its facts: on counters, the entity, the extraction,
 * the layout, and the example of its document. The event is still in the lists of its document and draft order.
 * Memory is freed before the function returns.
 */
#include "server/domain/corrections/applied_view.h"
#include "server/domain/corrections/document_rows.h"
#include "server/domain/corrections/entity_rows.h"
#include "server/domain/corrections/event_counts.h"
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/extractions/rows/extraction_rows.h"

#include <event_retract.h>

/* The same limit as for applying an event (apply.c). */
#define RETRACT_BYTES_MAX (256u << 20)

enum err corrections_check_retract(struct ctx *ctx, const struct event *event)
{
    struct feedback_event_view view;
    enum err err = feedback_view_read(event, &view);

    if (err != OK || feedback_is_correction(view.event_type) ||
        view.event_type == FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED) {
        return err;
    }
    return fault_say(ctx->fault, ERR_PRECONDITION,
                     "event_id: a %s of a mapping cannot be retracted; "
                     "expected a correction or a customer selection, or %s",
                     view.event_type == FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED ? "confirmation"
                                                                              : "rejection",
                     view.event_type == FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED ? "RejectMapping"
                                                                              : "ConfirmMapping");
}

static enum err retract_view(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             const struct feedback_event_view *view, const struct event *retraction)
{
    bool is_correction = feedback_is_correction(view->event_type);
    enum err err = event_counts_retract(ctx, txn, event, view);

    if (err == OK && is_correction && feedback_has_entity(view) && view->fields_changed.count > 0) {
        err = entity_rows_remove(ctx, txn, event, view, retraction->seq);
    }
    if (err == OK && is_correction) {
        err = extraction_rows_uncorrect(ctx, txn, event, view);
    }
    if (err == OK && view->layout_fingerprint.size > 0) {
        err = layout_rows_retract(ctx, txn, event, view, retraction);
    }
    if (err == OK && view->is_example && !event->content_removed) {
        err = document_rows_follow(ctx, txn, event, view);
    }
    return err;
}

enum err corrections_retract(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                             const struct event *event)
{
    struct feedback_event_view view;
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, RETRACT_BYTES_MAX);
    inner.arena = &arena;
    err = applied_view_read(&arena, event, &view);
    if (err == OK) {
        err = retract_view(&inner, txn, event, &view, retraction);
    }
    arena_deinit(&arena);
    return err;
}
