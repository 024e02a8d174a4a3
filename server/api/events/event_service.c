/*
 * event_service.c: EventService/GetEvent and ListEvents: the log as it was written. Watching it
 * is watch_events.c.
 */
#include "server/api/events/event_wire.h"
#include "server/pipeline/page_token.h"
#include "server/pipeline/service.h"

#include "store/base/bytes.h"
#include "store/base/wire.h"

#include <errata/v1/event.fields.h>
#include <errata/v1/event_service.fields.h>
#include <errata/v1/event_service.handlers.h>

/* One message for every id that is not there, whosever it may be. */
static enum err say_no_event(const struct service *service)
{
    return fault_say(service->ctx->fault, ERR_NOT_FOUND, "no such event in this organisation");
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
              "is missing; give the event's id, or its seq from 1");
    return ERR_INVALID;
}

enum err event_service_get_event_read(struct service *service, struct store_txn *txn,
                                      const Errata__V1__GetEventRequest *request, void *prepared,
                                      struct reply *reply)
{
    struct event event;
    uint64_t seq = 0;
    enum err err = find_seq(service, txn, request, &seq);

    (void)prepared;
    if (err == OK) {
        err = log_read(txn, service->principal->org, seq, &event);
    }
    if (err == ERR_NOT_FOUND) {
        return say_no_event(service);
    }
    if (err != OK) {
        return err;
    }
    return event_wire_put(service->ctx->arena, reply->body, GET_EVENT_RESPONSE_EVENT_FIELD, &event);
}

/* A list under way. */
struct list {
    struct service *service;
    struct store_txn *txn;
    struct buffer *body;
    size_t page_size;
    size_t count; /* in the page so far */
    size_t rows; /* examined in this call */
    bool overflows; /* the event examined last belongs to the next page */
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

/* The page has no room for more, or the call has looked at enough. */
static bool is_full(const struct list *list)
{
    return list->count == list->page_size || list->rows == PAGE_ROWS_MAX || list->overflows;
}

/* Examines one event, and puts it into the page if it is wanted and fits: a page has at least one. */
static enum err examine(struct list *list, uint64_t seq)
{
    struct service *service = list->service;
    size_t before = list->body->size;
    struct event event;
    enum err err = log_read(list->txn, service->principal->org, seq, &event);

    list->rows++;
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (!is_wanted(list, &event)) {
        return OK;
    }
    err =
        event_wire_put(service->ctx->arena, list->body, LIST_EVENTS_RESPONSE_EVENTS_FIELD, &event);
    if (err == OK && list->count > 0 && list->body->size > PAGE_BYTES_MAX) {
        list->body->size = before;
        list->overflows = true;
        return OK;
    }
    list->count++;
    return err;
}

/* The log from its end, or below the seq that the position tells. */
static enum err list_log(struct list *list, struct slice position, struct key *next)
{
    struct log_head head;
    uint64_t seq = 0;
    enum err err = log_read_head(list->txn, list->service->principal->org, &head);

    if (err != OK) {
        return err;
    }
    seq = position.size == sizeof(seq) ? bytes_get_be64(position.data) - 1 : head.last_seq;
    while (seq > 0 && !is_full(list)) {
        err = examine(list, seq);
        if (err != OK) {
            return err;
        }
        seq -= !list->overflows;
    }
    if (seq > 0) {
        bytes_put_be64(next->bytes, seq + 1);
        next->size = sizeof(seq);
    }
    return OK;
}

/* The rows of a subject, newest first; the position is the last row's key. */
static enum err list_subject(struct list *list, struct slice position, struct key *next)
{
    struct key prefix =
        key_subject_prefix(list->service->principal->org, list->subject_kind, list->subject_id);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value;
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = store_cursor_init(&cursor, list->txn, TABLE_SUBJECT, key_slice(&prefix),
                                     position, STORE_ASCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK && position.size != 0 && slice_equal(key, position)) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    while (err == OK && !is_full(list)) {
        err = key_read_newest_first(key, &created_at_us, &seq);
        if (err == OK) {
            err = examine(list, seq);
        }
        if (err == OK && !list->overflows) {
            memcpy(next->bytes, key.data, key.size);
            next->size = key.size;
            err = store_cursor_next(&cursor, &key, &value);
        }
    }
    store_cursor_deinit(&cursor);
    if (err == ERR_NOT_FOUND) {
        next->size = 0; /* that was the last one */
        return OK;
    }
    return err;
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

/* What the request asks for. */
static enum err read_filter(struct list *list, const Errata__V1__ListEventsRequest *request)
{
    struct fault *fault = list->service->ctx->fault;
    enum event_kind kind = EVENT_KIND_UNSPECIFIED;

    if (!event_kind_from_wire((int32_t)request->kind, &kind)) {
        fault_add(fault, SLICE("kind"), "is the number %d, which is no kind of event here",
                  (int)request->kind);
    }
    list->kind = (uint32_t)kind;
    list->page_size = page_size_of(request->page_size);
    if (request->subject != NULL) {
        list->by_subject = true;
        list->subject_id = slice_text(request->subject->id);
        list->subject_kind = (enum subject_kind)request->subject->kind; /* checked: a known one */
    }
    return fault_result(fault);
}

enum err event_service_list_events_read(struct service *service, struct store_txn *txn,
                                        const Errata__V1__ListEventsRequest *request,
                                        void *prepared, struct reply *reply)
{
    Errata__V1__ListEventsRequest filter = *request;
    struct list list = {.service = service, .txn = txn, .body = reply->body};
    struct sha256_digest filter_sha256;
    struct slice position;
    struct slice token;
    struct key next = {.size = 0};
    enum err err = read_filter(&list, request);

    (void)prepared;
    if (err != OK) {
        return err;
    }
    filter.page_size = 0;
    filter.page_token = (char *)(uintptr_t) "";
    err = page_filter_of(service, &filter.base, &filter_sha256);
    if (err == OK) {
        err = page_token_read(service, &filter_sha256, slice_text(request->page_token), &position);
    }
    if (err != OK) {
        return err;
    }
    err = list.by_subject && is_always_main(list.subject_kind)
              ? list_subject(&list, position, &next)
              : list_log(&list, position, &next);
    if (err != OK || next.size == 0) {
        return err;
    }
    err = page_token_write(service, &filter_sha256, key_slice(&next), &token);
    if (err == OK) {
        wire_put_bytes(reply->body, LIST_EVENTS_RESPONSE_NEXT_PAGE_TOKEN_FIELD, token);
    }
    return err;
}
