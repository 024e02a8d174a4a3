/*
 * apply.c: applies a stored feedback event to the layout's counts and examples, the marks of superseded
 * examples, the corrected extraction, the day's counters, and the lists of its document and draft order. An
 * event whose content was removed keeps its counts and marks, but is no longer an example. Memory is freed
 * before the function returns, so that a batch, or a replay of a whole log, needs only the memory of its
 * largest event.
 */

#include "server/domain/corrections/applied_view.h"
#include "server/domain/corrections/document_rows.h"
#include "server/domain/corrections/entity_rows.h"
#include "server/domain/corrections/event_counts.h"
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "store/base/assert.h"

#include <event_apply.h>

/* Upper limit of the memory for one event. The largest need is a thousand rows of an entity, each decoded into
 * 6 KB. */
#define APPLY_BYTES_MAX (256u << 20)

/* Adds the event to the list of a document or a draft order, if it names one. */
static enum err list_under(struct store_txn *txn, const struct event *event, enum subject_kind kind,
                           struct slice id)
{
    const struct slice nothing = {NULL, 0};
    struct key key = key_feedback_subject(event->org, kind, id, event->created_at_us, event->seq);

    return id.size == 0 ? OK : store_put(txn, TABLE_FEEDBACK_SUBJECT, key_slice(&key), nothing);
}

static enum err apply_view(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                           const struct feedback_event_view *view)
{
    uint64_t superseded_by_seq = 0;
    enum err err = event_counts_add(ctx, txn, event, view);

    if (err == OK) {
        err = list_under(txn, event, SUBJECT_DOCUMENT, view->document_id);
    }
    if (err == OK) {
        err = list_under(txn, event, SUBJECT_DRAFT_ORDER, view->draft_order_id);
    }
    if (err == OK && feedback_is_correction(view->event_type) && feedback_has_entity(view) &&
        view->fields_changed.count > 0) {
        err = entity_rows_add(ctx, txn, event, view, &superseded_by_seq);
    }
    if (err == OK && feedback_is_correction(view->event_type)) {
        err = extraction_rows_correct(ctx, txn, event, view);
    }
    if (err == OK && view->layout_fingerprint.size > 0) {
        err = layout_rows_add(ctx, txn, event, view, superseded_by_seq);
    }
    if (err == OK && view->is_example && !event->content_removed) {
        err = document_rows_follow(ctx, txn, event, view);
    }
    return err;
}

enum err corrections_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct feedback_event_view view;
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = OK;

    ASSERT(corrections_applies(event->kind));
    arena_init(&arena, APPLY_BYTES_MAX);
    inner.arena = &arena;
    err = applied_view_read(&arena, event, &view);
    if (err == OK) {
        err = apply_view(&inner, txn, event, &view);
    }
    arena_deinit(&arena);
    return err;
}
