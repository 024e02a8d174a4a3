/*
 * feedback_service.c: FeedbackService's writes: CaptureFeedbackEvent and
 * BatchCaptureFeedbackEvents. Converts wire messages to values for the domain, and stored events to
 * responses; the rules are in the domain. The reads are in feedback_reads.c.
 */
#include "server/api/feedback/feedback_wire.h"
#include "server/domain/corrections/capture.h"
#include "server/domain/events/feedback.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/feedback_service.fields.h>
#include <errata/v1/feedback_service.handlers.h>

/* Prepared events, in the order of the request. */
struct prepared_events {
    struct capture_event *events;
    size_t count;
};

static enum err read_input(const Errata__V1__FeedbackEvent *event, struct capture_input *ret_input)
{
    struct capture_input input = {
        .event_type = FEEDBACK_EVENT_TYPE_UNSPECIFIED,
        .actor_user_id = slice_text(event->actor_user_id),
        .entity_type = slice_text(event->entity_type),
        .entity_id = slice_text(event->entity_id),
        .draft_order_id = slice_text(event->draft_order_id),
        .document_id = slice_text(event->document_id),
        .layout_fingerprint = slice_text(event->layout_fingerprint),
        .before_json = slice_text(event->before_json),
        .after_json = slice_text(event->after_json),
        .corrected_output_json = slice_text(event->corrected_output_json),
        .meta_json = slice_text(event->meta_json),
        .time = time_given(event->created_at),
    };

    if (UNEXPECTED(!feedback_event_type_from_wire((int32_t)event->event_type, &input.event_type) ||
                   input.event_type == FEEDBACK_EVENT_TYPE_UNSPECIFIED) ||
        UNEXPECTED(
            !annotator_kind_from_wire((int32_t)event->annotator_kind, &input.annotator_kind))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    *ret_input = input;
    return OK;
}

static enum err prepare_one(struct service *service, const Errata__V1__FeedbackEvent *event,
                            struct slice path, struct capture_event *ret_event)
{
    const struct event_caller caller = caller_of(service);
    struct capture_input input;
    enum err err = read_input(event, &input);

    return err != OK ? err : capture_prepare(service->ctx, &caller, &input, path, ret_event);
}

static struct prepared_events *new_events(struct arena *arena, size_t count)
{
    struct prepared_events *prepared = arena_calloc(arena, 1, sizeof(*prepared));

    if (prepared == NULL) {
        return NULL;
    }
    prepared->events = arena_calloc(arena, count, sizeof(struct capture_event));
    prepared->count = count;
    return prepared->events != NULL ? prepared : NULL;
}

static enum err store_events(struct service *service, struct store_txn *txn,
                             const struct prepared_events *prepared, struct work_result *result)
{
    enum err err = capture_store(service->ctx, txn, service->principal->org, prepared->events,
                                 prepared->count, &result->first_seq);

    if (err == OK) {
        result->count = (uint32_t)prepared->count;
    }
    return err;
}

enum err feedback_service_capture_feedback_event_prepare(
    struct feedback_service_capture_feedback_event_call *call)
{
    struct prepared_events *prepared = new_events(call->ctx->arena, 1);
    enum err err = OK;

    if (prepared == NULL) {
        return ERR_MEMORY;
    }
    err = prepare_one(call->service, call->request->event, SLICE("event"), &prepared->events[0]);
    if (err == OK) {
        call->prepared = prepared;
    }
    return err;
}

enum err feedback_service_capture_feedback_event_write(
    struct feedback_service_capture_feedback_event_call *call)
{
    return store_events(call->service, call->txn, call->prepared, call->result);
}

enum err feedback_service_capture_feedback_event_answer(
    struct feedback_service_capture_feedback_event_call *call)
{
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err != OK) {
        return err;
    }
    return feedback_wire_put(&event, CAPTURE_FEEDBACK_EVENT_RESPONSE_EVENT_FIELD, call->body);
}

enum err feedback_service_batch_capture_feedback_events_prepare(
    struct feedback_service_batch_capture_feedback_events_call *call)
{
    struct prepared_events *prepared = new_events(call->ctx->arena, call->request->n_events);
    enum err result = prepared == NULL ? ERR_MEMORY : OK;

    /* Reports every invalid event, not only the first; any other error ends the loop. */
    for (size_t i = 0; i < call->request->n_events && (result == OK || result == ERR_INVALID);
         i++) {
        struct slice path = arena_printf(call->ctx->arena, "events[%zu]", i);
        enum err err =
            prepare_one(call->service, call->request->events[i], path, &prepared->events[i]);

        result = err != OK ? err : result;
    }
    if (result == OK) {
        call->prepared = prepared;
    }
    return result;
}

enum err feedback_service_batch_capture_feedback_events_write(
    struct feedback_service_batch_capture_feedback_events_call *call)
{
    return store_events(call->service, call->txn, call->prepared, call->result);
}

/* Writes one event of a batch's response: its id, its time and the values that the server
 * derived. */
static enum err answer_one(const struct event *event, struct buffer *body)
{
    struct feedback_event_view stored;
    enum err err = feedback_view_read(event, &stored);
    const struct feedback_event_view sent = {
        .id = event->id,
        .created_at_us = event->created_at_us,
        .has_created_at = true,
        .reduced = err == OK && stored.reduced,
        .is_example = err == OK && stored.is_example,
        .has_is_example = true,
        .warnings = {.run = err == OK ? stored.warnings.run : slice_of(NULL, 0)},
    };

    if (err == OK) {
        feedback_event_view_put(&sent, BATCH_CAPTURE_FEEDBACK_EVENTS_RESPONSE_EVENTS_FIELD, body);
    }
    return err;
}

enum err feedback_service_batch_capture_feedback_events_answer(
    struct feedback_service_batch_capture_feedback_events_call *call)
{
    enum err err = OK;

    for (uint32_t i = 0; i < call->result->count && err == OK; i++) {
        struct event event;

        err = log_read(call->txn, call->result->org, call->result->first_seq + i, &event);
        if (err == OK) {
            err = answer_one(&event, call->body);
        }
    }
    return err;
}
