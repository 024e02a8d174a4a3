/*
 * apply.c: applies a stored feedback event: to the layout's counts and examples, the marks of superseded
 * examples, the corrected extraction, the day's counters, and the lists of its document and draft order. An
 * event whose content was removed keeps its counts and marks and gives no example. Memory is freed before
 * it returns, so that a batch, or a replay of a whole log, takes no more than its largest event.
 */

#include "server/domain/corrections/entity_rows.h"
#include "server/domain/corrections/example_output.h"
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/counters/counters.h"
#include "server/domain/counters/keys.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "store/base/assert.h"

#include <event_apply.h>
#include <stdio.h>

/* What one event needs at most: a thousand rows of an entity with 200 long names each would be more,
 * and a row is decoded into 6 KB. */
#define APPLY_BYTES_MAX (256u << 20)

/* Counts an event by its type, and a correction's fields by their names. */
static enum err count_event(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                            const struct feedback_event_view *view)
{
    enum counter_dimension dimension =
        view->event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED ? COUNTER_LINE_FIELD
                                                                          : COUNTER_FIELD_FIELD;
    struct counter_day at = counters_day(event->org, event->created_at_us);
    struct slice names = view->fields_changed.run;
    struct slice name = {NULL, 0};
    char type[16] = {0};
    int size = snprintf(type, sizeof(type), "%d", (int)view->event_type);
    enum err err = counters_add(ctx, txn, &at, COUNTER_EVENT_TYPE, slice_of(type, (size_t)size), 1);

    if (err != OK || !feedback_is_correction(view->event_type)) {
        return err;
    }
    while (err == OK && view_next(&names, &name)) {
        err = counters_add_field(ctx, txn, &at, dimension, name);
    }
    return err;
}

/* Adds the event to the list of a document or a draft order, if it names one. */
static enum err list_under(struct store_txn *txn, const struct event *event, enum subject_kind kind,
                           struct slice id)
{
    const struct slice nothing = {NULL, 0};
    struct key key = key_feedback_subject(event->org, kind, id, event->created_at_us, event->seq);

    return id.size == 0 ? OK : store_put(txn, TABLE_FEEDBACK_SUBJECT, key_slice(&key), nothing);
}

/* Decides for an event of a store format below 5, whose facts do not have it, whether it is an example. One
 * whose content was removed counts as it did then. */
static enum err decide_example(struct arena *arena, const struct event *event, struct slice output,
                               struct feedback_event_view *view)
{
    struct slice given = example_output_of(view->after_json, view->corrected_output_json);
    enum warning_code reason = WARNING_CODE_UNSPECIFIED;
    enum err err = OK;

    view->is_example =
        feedback_is_correction(view->event_type) && view->layout_fingerprint.size > 0;
    if (view->is_example && !event->content_removed) {
        err = example_output_check(arena, view->before_json, given, output, &reason);
        view->is_example = reason == WARNING_CODE_UNSPECIFIED;
    }
    return err;
}

/* Completes what the other functions read of an event: whether it is an example, and its output without
 * what reduction left out. */
static enum err complete_view(struct arena *arena, const struct event *event,
                              struct feedback_event_view *view)
{
    bool is_whole = view->corrected_output_json.size > 0;
    struct slice output = {NULL, 0};
    bool cut = false;
    enum err err = OK;

    if (!feedback_is_correction(view->event_type)) {
        return OK;
    }
    err = example_output_cut(
        arena, example_output_of(view->after_json, view->corrected_output_json), &output, &cut);
    if (err == OK && !view->has_is_example) {
        err = decide_example(arena, event, output, view);
    }
    view->output_reduced = view->output_reduced || cut;
    if (cut && is_whole) {
        view->corrected_output_json = output;
    } else if (cut) {
        view->after_json = output;
    }
    return err;
}

static enum err apply_view(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                           const struct feedback_event_view *view)
{
    uint64_t superseded_by_seq = 0;
    enum err err = count_event(ctx, txn, event, view);

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
    return err;
}

enum err corrections_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct feedback_event_view view;
    struct ctx inner = *ctx;
    struct arena arena;
    enum err err = OK;

    ASSERT(corrections_applies(event->kind));
    err = feedback_view_read(event, &view);
    if (err != OK) {
        return err;
    }
    arena_init(&arena, APPLY_BYTES_MAX);
    inner.arena = &arena;
    err = complete_view(&arena, event, &view);
    if (err == OK) {
        err = apply_view(&inner, txn, event, &view);
    }
    arena_deinit(&arena);
    return err;
}
