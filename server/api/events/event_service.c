/*
 * event_service.c: EventService/GetEvent, ListEvents and RetractEvent: reads the log, and retracts
 * events. WatchEvents is in watch_events.c.
 */
#include "server/api/events/event_wire.h"
#include "server/domain/events/event_list.h"
#include "server/domain/retractions/retractions.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/id_filter.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/event.fields.h>
#include <errata/v1/event_service.fields.h>
#include <errata/v1/event_service.handlers.h>
#include <errata/v1/event_service.views.h>

/* Reports an unknown id. The message is the same for ids of other organisations. */
static enum err say_no_event(const struct service *service)
{
    return fault_say(
        service->ctx->fault, ERR_NOT_FOUND,
        "event: not found in this organisation; expected the id or seq of a stored event");
}

static enum err find_seq(const struct service *service, struct store_txn *txn,
                         const Errata__V1__GetEventRequest *request, uint64_t *ret_seq)
{
    struct uuid id;

    if (request->key_case == ERRATA__V1__GET_EVENT_REQUEST__KEY_SEQ && request->seq != 0) {
        *ret_seq = request->seq;
        return OK;
    }
    if (request->key_case == ERRATA__V1__GET_EVENT_REQUEST__KEY_ID &&
        uuid_parse(slice_text(request->id), &id)) {
        return log_find(txn, service->principal->org, id, ret_seq);
    }
    fault_add(service->ctx->fault, SLICE("key"),
              "missing; expected the event's id, or its seq from 1");
    return ERR_INVALID;
}

enum err event_service_get_event_read(struct event_service_get_event_call *call)
{
    struct event event;
    uint64_t seq = 0;
    enum err err = find_seq(call->service, call->txn, call->request, &seq);

    if (err == OK) {
        err = log_read(call->txn, call->org, seq, &event);
    }
    if (err == ERR_NOT_FOUND) {
        return say_no_event(call->service);
    }
    if (err != OK) {
        return err;
    }
    return event_wire_put(call->ctx->arena, call->txn, call->body, GET_EVENT_RESPONSE_EVENT_FIELD,
                          &event);
}

/* Reads the filter of the request. */
static enum err read_filter(const Errata__V1__ListEventsRequest *request, struct event_list *list)
{
    enum event_kind kind = EVENT_KIND_UNSPECIFIED;

    if (UNEXPECTED(!event_kind_from_wire((int32_t)request->kind, &kind))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    list->kind = (uint32_t)kind;
    if (request->subject != NULL) {
        list->by_subject = true;
        list->subject.id = slice_text(request->subject->id);
        list->subject.kind =
            (uint8_t)request->subject->kind; /* check_request ensures that the kind is known */
    }
    return OK;
}

enum err event_service_list_events_read(struct event_service_list_events_call *call)
{
    struct event_list list = {.org = call->org, .page = call->page};
    struct event event;
    enum err err = read_filter(call->request, &list);

    if (err == OK) {
        err = id_filter_read_uuid(call->service, call->request->id_prefix, &list.id_prefix);
    }
    if (err == OK) {
        err = event_list_begin(call->txn, &list);
    }
    while (err == OK) {
        err = event_list_next(call->txn, &list, &event);
        if (err == OK) {
            err = event_wire_put(call->ctx->arena, call->txn, call->body,
                                 LIST_EVENTS_RESPONSE_EVENTS_FIELD, &event);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err event_service_retract_event_write(struct event_service_retract_event_call *call)
{
    struct retraction_request retraction = {
        .org = call->org,
        .caller = caller_of(call->service),
        .reason = slice_text(call->request->reason),
    };
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->event_id), &retraction.event_id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = retraction_store(call->ctx, call->txn, &retraction, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err event_service_retract_event_answer(struct event_service_retract_event_call *call)
{
    struct retraction retraction;
    struct retraction_view view;
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK) {
        err = retraction_of_event(&event, &retraction);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view = (struct retraction_view){
        .id = retraction.id,
        .seq = retraction.seq,
        .event_id = retraction.event_id,
        .event_seq = retraction.event_seq,
        .retracted_at_us = retraction.retracted_at_us,
        .has_retracted_at = true,
        .retracted_by = retraction.retracted_by,
        .reason = retraction.reason,
    };
    retraction_view_put(&view, RETRACT_EVENT_RESPONSE_RETRACTION_FIELD, call->body);
    return buffer_ok(call->body) ? OK : ERR_MEMORY;
}
