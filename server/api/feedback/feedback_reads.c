/*
 * feedback_reads.c: FeedbackService's reads: GetFeedbackEvent and ListFeedbackEvents. Wire messages
 * become values for the domain, which writes the answers' bytes itself.
 */
#include "server/domain/corrections/list.h"
#include "server/pipeline/env.h"
#include "server/pipeline/page_token.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/wire.h"

#include <errata/v1/feedback_service.fields.h>
#include <errata/v1/feedback_service.handlers.h>

/* A list's place in a page token: three numbers. */
#define PLACE_BYTES 24

enum err
feedback_service_get_feedback_event_read(struct feedback_service_get_feedback_event_call *call)
{
    struct org_id org = call->org;
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
    return list_append_event(call->ctx, GET_FEEDBACK_EVENT_RESPONSE_EVENT_FIELD, &event,
                             LIST_WITH_DIFF, call->body);
}

/* The first microsecond that is not before the time: events stand at whole ones. */
static int64_t microseconds_from(const Google__Protobuf__Timestamp *time)
{
    return time->seconds * 1000000 + (time->nanos + 999) / 1000;
}

static enum err read_filter(struct service *service,
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
        .start_us = INT64_MIN,
        .end_us = INT64_MAX,
    };

    if (UNEXPECTED(
            !feedback_event_type_from_wire((int32_t)request->event_type, &filter.event_type))) {
        return ERR_INTERNAL; /* check_request refuses it */
    }
    if (request->start_time != NULL) {
        filter.start_us = microseconds_from(request->start_time);
    }
    if (request->end_time != NULL) {
        filter.end_us = microseconds_from(request->end_time);
    }
    if (filter.start_us > filter.end_us) {
        fault_add(service->ctx->fault, SLICE("start_time"),
                  "after end_time; expected start_time <= end_time");
        return ERR_INVALID;
    }
    *ret_filter = filter;
    return OK;
}

static enum err read_place(const struct service *service, const struct sha256_digest *filter,
                           const char *text, struct list_page *page)
{
    struct slice position = {NULL, 0};
    enum err err = page_token_read(service, filter, slice_text(text), &position);

    if (err != OK || position.size == 0) {
        return err;
    }
    if (position.size != PLACE_BYTES) {
        fault_add(service->ctx->fault, SLICE("page_token"),
                  "from another list; expected the next_page_token of this list's previous page");
        return ERR_INVALID;
    }
    page->has_place = true;
    page->place.log_seq = bytes_get_be64(position.data);
    page->place.index_created_at_us = (int64_t)bytes_get_be64(position.data + 8);
    page->place.index_seq = bytes_get_be64(position.data + 16);
    return OK;
}

static enum err write_place(const struct service *service, const struct sha256_digest *filter,
                            const struct list_place *place, struct buffer *body)
{
    uint8_t position[PLACE_BYTES];
    struct slice text = {NULL, 0};
    enum err err = OK;

    bytes_put_be64(position, place->log_seq);
    bytes_put_be64(position + 8, (uint64_t)place->index_created_at_us);
    bytes_put_be64(position + 16, place->index_seq);
    err = page_token_write(service, filter, slice_of(position, sizeof(position)), &text);
    if (err != OK) {
        return err;
    }
    wire_put_bytes(body, LIST_FEEDBACK_EVENTS_RESPONSE_NEXT_PAGE_TOKEN_FIELD, text);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err
feedback_service_list_feedback_events_read(struct feedback_service_list_feedback_events_call *call)
{
    struct sha256_digest digest;
    struct list_filter filter;
    struct list_page page = {
        .filter = &filter,
        .org = call->org,
        .page_size = (uint32_t)page_size_of(call->request->page_size),
        .detail = LIST_WITH_DIFF,
    };
    bool more = false;
    enum err err = read_filter(call->service, call->request, &filter);

    if (err == OK) {
        err = page_filter_of(call->service, &call->request->base, &digest);
    }
    if (err == OK) {
        err = read_place(call->service, &digest, call->request->page_token, &page);
    }
    if (err == OK) {
        err = list_write(call->ctx, call->txn, &page, call->body, &more);
    }
    if (err == OK && more) {
        err = write_place(call->service, &digest, &page.place, call->body);
    }
    return err;
}
