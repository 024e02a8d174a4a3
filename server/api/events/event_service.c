/*
 * event_service.c: EventService/GetEvent and ListEvents: the log as it was written. Watching it
 * is watch_events.c.
 */
#include "server/api/events/event_wire.h"
#include "server/pipeline/page_token.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/wire.h"

#include <errata/v1/event.fields.h>
#include <errata/v1/event_service.fields.h>
#include <errata/v1/event_service.handlers.h>

/* One message for every id that is not there, whosever it may be. */
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
    return event_wire_put(call->ctx->arena, call->body, GET_EVENT_RESPONSE_EVENT_FIELD, &event);
}

/* A list under way. */
struct list {
    struct service *service;
    struct store_txn *txn;
    struct buffer *body;
    size_t page_size;
    uint32_t kind; /* of events; 0: all */
    bool by_subject;
    enum subject_kind subject_kind;
    struct slice subject_id;
};

static bool is_wanted(const struct list *list, const struct event *event)
{
    if (list->kind != 0 && list->kind != (uint32_t)event->kind) {
        return false;
    }
    for (size_t i = 0; list->by_subject && i < event->subject_count; i++) {
        if (event->subjects[i].kind == list->subject_kind &&
            slice_equal(event->subjects[i].id, list->subject_id)) {
            return true;
        }
    }
    return !list->by_subject;
}

/* Puts the event of a row into the page if it is wanted. */
static enum err take_row(struct list *list, uint64_t seq)
{
    struct service *service = list->service;
    struct event event;
    enum err err = log_read(list->txn, service->principal->org, seq, &event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return is_wanted(list, &event) ? event_wire_put(service->ctx->arena, list->body,
                                                    LIST_EVENTS_RESPONSE_EVENTS_FIELD, &event)
                                   : OK;
}

/* Whether every event about such a subject has it as its main one, so that the index has them all. */
static bool is_always_main(enum subject_kind kind)
{
    switch (kind) {
    case SUBJECT_LAYOUT:
    case SUBJECT_ORGANIZATION:
    case SUBJECT_TOKEN:
    case SUBJECT_PROMPT_TEMPLATE:
        return true;
    case SUBJECT_DOCUMENT:
    case SUBJECT_DRAFT_ORDER:
    case SUBJECT_ENTITY:
    case SUBJECT_EXPOSURE:
        break;
    }
    return false;
}

/* The rows that are walked: those of the subject, newest first, or the log from its end. */
static struct page_request request_of(const struct list *list, struct slice after)
{
    struct org_id org = list->service->principal->org;
    bool by_index = list->by_subject && is_always_main(list->subject_kind);

    return (struct page_request){
        .table = by_index ? TABLE_SUBJECT : TABLE_EVENT,
        .prefix =
            by_index ? key_subject_prefix(org, list->subject_kind, list->subject_id) : key_org(org),
        .order = by_index ? STORE_ASCENDING : STORE_DESCENDING,
        .after = after,
        .page_size = (uint32_t)list->page_size,
    };
}

/* Writes a page; `ret_next` is where the next one begins, empty at the end. */
static enum err write_page(struct list *list, struct slice after, struct key *ret_next)
{
    const struct page_request request = request_of(list, after);
    struct page_walk walk;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = page_walk_init(&walk, list->txn, &request, list->body);

    while (err == OK) {
        err = page_walk_next(&walk, &key, &value);
        if (err != OK) {
            break;
        }
        err = request.table == TABLE_EVENT ? key_read_event(key, &seq)
                                           : key_read_newest_first(key, &created_at_us, &seq);
        if (err == OK) {
            err = take_row(list, seq);
        }
    }
    page_walk_deinit(&walk);
    ret_next->size = 0;
    if (walk.more) {
        *ret_next = walk.last;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* What the request asks for. */
static enum err read_filter(struct list *list, const Errata__V1__ListEventsRequest *request)
{
    enum event_kind kind = EVENT_KIND_UNSPECIFIED;

    if (UNEXPECTED(!event_kind_from_wire((int32_t)request->kind, &kind))) {
        return ERR_INTERNAL; /* check_request refuses it */
    }
    list->kind = (uint32_t)kind;
    list->page_size = page_size_of(request->page_size);
    if (request->subject != NULL) {
        list->by_subject = true;
        list->subject_id = slice_text(request->subject->id);
        list->subject_kind = (enum subject_kind)request->subject->kind; /* checked: a known one */
    }
    return OK;
}

enum err event_service_list_events_read(struct event_service_list_events_call *call)
{
    struct list list = {.service = call->service, .txn = call->txn, .body = call->body};
    struct sha256_digest filter;
    struct slice position;
    struct key next = {.size = 0};
    enum err err = read_filter(&list, call->request);

    if (err != OK) {
        return err;
    }
    err = page_token_begin(call->service, &call->request->base, call->request->page_token, &filter,
                           &position);
    if (err != OK) {
        return err;
    }
    err = write_page(&list, position, &next);
    if (err != OK || next.size == 0) {
        return err;
    }
    return page_token_append(call->service, &filter, &next,
                             LIST_EVENTS_RESPONSE_NEXT_PAGE_TOKEN_FIELD, call->body);
}
