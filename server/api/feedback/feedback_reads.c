/*
 * feedback_reads.c: FeedbackService's reads: GetFeedbackEvent and ListFeedbackEvents.
 */
#include "server/api/feedback/feedback_wire.h"
#include "server/domain/corrections/list.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/id_filter.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/feedback_service.fields.h>
#include <errata/v1/feedback_service.handlers.h>

enum err
feedback_service_get_feedback_event_read(struct feedback_service_get_feedback_event_call *call)
{
    struct org_id org = call->org;
    struct feedback_event_view view;
    struct event event;
    struct uuid id;
    uint64_t seq = 0;
    enum err err = uuid_parse(slice_text(call->request->id), &id) ? OK : ERR_NOT_FOUND;

    if (err == OK) {
        err = log_find(call->txn, org, id, &seq);
    }
    if (err == OK) {
        err = log_read(call->txn, org, seq, &event);
    }
    if (err == ERR_NOT_FOUND || (err == OK && event.kind != EVENT_FEEDBACK)) {
        return fault_say(call->ctx->fault, ERR_NOT_FOUND,
                         "id: not found in this organisation; expected the id of a feedback event");
    }
    if (err != OK) {
        return err;
    }
    err = feedback_view_read(&event, &view);
    return err != OK ? err
                     : feedback_wire_put_whole(call->ctx->arena, call->txn, &event, &view,
                                               GET_FEEDBACK_EVENT_RESPONSE_EVENT_FIELD, call->body);
}

static enum err read_filter(struct fault *fault,
                            const Errata__V1__ListFeedbackEventsRequest *request,
                            struct list_filter *ret_filter)
{
    struct list_filter filter = {
        .event_type = FEEDBACK_EVENT_TYPE_UNSPECIFIED,
        .layout_fingerprint = slice_text(request->layout_fingerprint),
        .draft_order_id = slice_text(request->draft_order_id),
        .document_id = slice_text(request->document_id),
        .entity_type = slice_text(request->entity_type),
        .entity_id = slice_text(request->entity_id),
        .actor_user_id = slice_text(request->actor_user_id),
        .field = slice_text(request->field),
        .exclude_mapping_events = request->exclude_mapping_events != 0,
    };

    if (UNEXPECTED(
            !feedback_event_type_from_wire((int32_t)request->event_type, &filter.event_type)) ||
        UNEXPECTED(
            !annotator_kind_from_wire((int32_t)request->annotator_kind, &filter.annotator_kind))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (!time_range_read(fault, request->start_time, request->end_time, &filter.start_us,
                         &filter.end_us)) {
        return ERR_INVALID;
    }
    *ret_filter = filter;
    return OK;
}

enum err
feedback_service_list_feedback_events_read(struct feedback_service_list_feedback_events_call *call)
{
    struct feedback_event_view view;
    struct list_filter filter;
    struct feedback_list list = {.filter = &filter, .org = call->org, .page = call->page};
    enum err err = read_filter(call->ctx->fault, call->request, &filter);

    if (err == OK) {
        err = id_filter_read_uuid(call->service, call->request->id_prefix, &filter.id_prefix);
    }
    if (err == OK) {
        err = feedback_list_begin(call->txn, &list);
    }
    while (err == OK) {
        const struct event *event = NULL;

        err = feedback_list_next(call->txn, &list, &event, &view);
        if (err == OK) {
            err = feedback_wire_put_whole(call->ctx->arena, call->txn, event, &view,
                                          LIST_FEEDBACK_EVENTS_RESPONSE_EVENTS_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
