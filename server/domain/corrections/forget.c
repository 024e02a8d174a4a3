/*
 * forget.c: see forget.h. The rows that are left are those of a replay, in which the event has no content.
 */
#include "server/domain/corrections/forget.h"

#include "server/domain/corrections/applied_view.h"
#include "server/domain/corrections/document_rows.h"
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/events/retraction.h"
#include "store/base/assert.h"

enum err corrections_check_forget(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                  struct corrections_forgotten *ret_forgotten)
{
    struct corrections_forgotten forgotten = {.may_forget = false};
    struct feedback_event_view view;
    uint64_t retraction_seq = 0;
    enum err err = feedback_view_read(event, &view);
    bool may_be_example =
        err == OK && feedback_is_correction(view.event_type) && view.layout_fingerprint.size > 0;
    bool says = err == OK && view.has_is_example;

    if (err == OK && may_be_example && !says) {
        err = applied_view_read(ctx->arena, event, &view);
    }
    if (err == OK && view.is_example) {
        err = retraction_find(txn, event->org, event->seq, &retraction_seq);
    }
    if (err != OK) {
        return err;
    }
    forgotten.may_forget = says || view.is_example || !may_be_example;
    forgotten.is_counted = view.is_example && may_be_example && retraction_seq == 0;
    *ret_forgotten = forgotten;
    return OK;
}

static enum err forget_view(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                            const struct feedback_event_view *view)
{
    enum err err = layout_rows_forget(ctx, txn, event, view);

    return err != OK ? err : document_rows_follow(ctx, txn, event, view);
}

enum err corrections_forget(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct feedback_event_view view;
    enum err err = OK;

    ASSERT(event->content_removed);
    if (event->kind != EVENT_FEEDBACK) {
        return OK;
    }
    err = applied_view_read(ctx->arena, event, &view);
    if (err == OK && view.is_example && view.layout_fingerprint.size > 0) {
        err = forget_view(ctx, txn, event, &view);
    }
    return err;
}
