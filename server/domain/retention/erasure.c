/*
 * erasure.c: one step of an erasure; see erasure.h.
 */
#include "server/domain/retention/erasure.h"

#include "server/domain/decisions/forget.h"
#include "server/domain/events/draft.h"
#include "server/domain/retention/retention_internal.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

_Static_assert(ERASURE_STEP_EVENTS <= RETENTION_REMOVED_MAX, "a list holds the events of a step");

/* Lists the events of the step that still have content; retention may have removed it meanwhile. */
static enum err list_events(struct ctx *ctx, struct store_txn *txn, const struct erasure_step *step,
                            struct retention_list *list)
{
    enum err err = OK;

    for (size_t i = 0; i < step->seq_count && err == OK; i++) {
        struct event event;

        err = log_read(txn, step->target->org, step->seqs[i], &event);
        if (err == OK) {
            err = retention_list_add(ctx, txn, &event, list);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err erasure_remove_event(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              uint64_t seq)
{
    struct event event;
    enum err err = log_read_copy(ctx->arena, txn, org, seq, &event);

    if (err == OK && event.kind == EVENT_DECISION_RECORDED) {
        err = decisions_forget(ctx, txn, &event);
    }
    return err != OK ? err : log_remove_content(ctx, txn, org, seq);
}

static enum err encode(struct ctx *ctx, const struct erasure_step *step,
                       const struct retention_list *list, struct event_draft *draft)
{
    const struct erasure_target *target = step->target;
    struct content_erased_view facts = {
        .example_count = list->example_count,
        .reason = step->reason,
    };
    struct buffer seqs;

    switch (target->subject) {
    case ERASURE_OF_DOCUMENT:
        facts.document_id = target->id;
        break;
    case ERASURE_OF_CUSTOMER:
        facts.customer_id = target->id;
        break;
    case ERASURE_OF_SESSION:
        facts.session_id = target->id;
        break;
    case ERASURE_OF_USER:
        facts.user_id = target->id;
        break;
    case ERASURE_OF_EVENTS:
        break;
    }
    buffer_init(&seqs, ctx->arena, 0);
    for (size_t i = 0; i < list->count; i++) {
        content_erased_view_add_seqs(&seqs, list->seqs[i]);
    }
    facts.seqs.run = buffer_slice(&seqs);
    return buffer_ok(&seqs) && view_encode_parts(&content_erased_view_type, &facts, ctx->arena,
                                                 &draft->facts, &draft->content)
               ? OK
               : ERR_MEMORY;
}

static enum err append(struct ctx *ctx, struct store_txn *txn, const struct erasure_step *step,
                       const struct retention_list *list, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    struct org_id org = step->target->org;
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_CONTENT_ERASED,
        .annotator = ANNOTATOR_HUMAN,
        .source = SOURCE_LIVE,
        .actor_user_id = step->actor_user_id,
    };
    enum err err = encode(ctx, step, list, &draft);

    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_ORGANIZATION, org.uuid);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, retention_apply, ret_seq);
}

enum err erasure_remove_content(struct ctx *ctx, struct store_txn *txn,
                                const struct erasure_step *step, uint64_t *ret_seq)
{
    struct retention_list *list = arena_calloc(ctx->arena, 1, sizeof(*list));
    struct org_id org = step->target->org;
    enum err err = list == NULL ? ERR_MEMORY : OK;

    ASSERT(step->seq_count > 0 && step->seq_count <= ERASURE_STEP_EVENTS);
    *ret_seq = 0;
    if (err == OK) {
        err = list_events(ctx, txn, step, list);
    }
    if (err != OK || list->count == 0) {
        return err;
    }
    err = retention_list_each(ctx, txn, org, list, erasure_remove_event);
    return err != OK ? err : append(ctx, txn, step, list, ret_seq);
}
