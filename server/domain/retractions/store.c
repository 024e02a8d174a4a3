/*
 * store.c: see retractions.h.
 */
#include "server/domain/events/draft.h"
#include "server/domain/retractions/retractions.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>
#include <event_retract.h>

static enum err find_event(struct ctx *ctx, struct store_txn *txn,
                           const struct retraction_request *request, struct event *ret_event)
{
    uint64_t seq = 0;
    enum err err = log_find(txn, request->org, request->event_id, &seq);

    if (err == ERR_NOT_FOUND) {
        return fault_say(
            ctx->fault, ERR_NOT_FOUND,
            "event_id: not found in this organisation; expected the id of a stored event");
    }
    return err != OK ? err : log_read(txn, request->org, seq, ret_event);
}

/* An OPERATOR may retract only events of the token's own user. */
static enum err check_owner(struct ctx *ctx, const struct retraction_request *request,
                            const struct event *event)
{
    if (request->caller.role != ROLE_OPERATOR ||
        slice_equal(event->actor_user_id, request->caller.user_id)) {
        return OK;
    }
    return fault_say(ctx->fault, ERR_DENIED,
                     "event_id: event of another user; expected an event of the token's user, or a "
                     "REVIEWER or ADMIN token");
}

static enum err encode(struct ctx *ctx, const struct retraction_request *request,
                       const struct event *event, struct event_draft *draft)
{
    const struct event_retracted_view view = {
        .retracted_event_id = event->id,
        .retracted_seq = event->seq,
        .reason = request->reason,
    };

    return view_encode_parts(&event_retracted_view_type, &view, ctx->arena, &draft->facts,
                             &draft->content)
               ? OK
               : ERR_MEMORY;
}

/* A retraction has the subjects of the retracted event. */
static enum err add_subjects(struct ctx *ctx, const struct event *event, struct event_draft *draft)
{
    for (size_t i = 0; i < event->subject_count; i++) {
        struct slice id = {NULL, 0};

        if (!arena_copy(ctx->arena, event->subjects[i].id, &id)) {
            return ERR_MEMORY;
        }
        event_draft_add_subject(draft, (enum subject_kind)event->subjects[i].kind, id);
    }
    return OK;
}

static enum err append(struct ctx *ctx, struct store_txn *txn,
                       const struct retraction_request *request, const struct event *event,
                       uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    const struct slice path = {NULL, 0};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    struct event_draft draft = {.org = request->org, .kind = EVENT_RETRACTED};
    enum err err =
        actor_resolve(ctx, &request->caller, path, slice_of(NULL, 0), false, &draft.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, path, slice_of(NULL, 0), &annotator);
    }
    draft.annotator = (enum annotator)annotator;
    if (err == OK) {
        err = encode(ctx, request, event, &draft);
    }
    if (err == OK) {
        err = add_subjects(ctx, event, &draft);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, retractions_apply, ret_seq);
}

enum err retraction_store(struct ctx *ctx, struct store_txn *txn,
                          const struct retraction_request *request, uint64_t *ret_seq)
{
    struct event event;
    uint64_t earlier_seq = 0;
    enum err err = find_event(ctx, txn, request, &event);

    if (err == OK) {
        err = check_owner(ctx, request, &event);
    }
    if (err == OK) {
        err = retraction_find(txn, request->org, event.seq, &earlier_seq);
    }
    if (err == OK && earlier_seq != 0) {
        *ret_seq = earlier_seq;
        return OK;
    }
    if (err == OK) {
        err = domain_check_retract(ctx, &event);
    }
    return err != OK ? err : append(ctx, txn, request, &event, ret_seq);
}
