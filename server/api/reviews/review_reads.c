/*
 * review_reads.c: ReviewService's reads of reviews: GetReview, ListReviews and GetRun.
 */
#include "server/api/reviews/review_wire.h"
#include "server/domain/reviews/list.h"
#include "server/domain/reviews/run_report.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/id_filter.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/review_service.fields.h>
#include <errata/v1/review_service.handlers.h>

enum err review_service_get_review_read(struct review_service_get_review_call *call)
{
    struct event event;
    struct uuid id;
    uint64_t seq = 0;
    enum err err = uuid_parse(slice_text(call->request->id), &id) ? OK : ERR_NOT_FOUND;

    if (err == OK) {
        err = log_find(call->txn, call->org, id, &seq);
    }
    if (err == OK) {
        err = log_read(call->txn, call->org, seq, &event);
    }
    if (err == ERR_NOT_FOUND || (err == OK && event.kind != EVENT_REVIEW_SUBMITTED)) {
        return fault_say(call->ctx->fault, ERR_NOT_FOUND,
                         "id: not found in this organisation; expected the id of a review");
    }
    return err != OK ? err
                     : review_wire_put_whole(call->ctx->arena, call->txn, &event,
                                             GET_REVIEW_RESPONSE_REVIEW_FIELD, call->body);
}

static enum err read_list(const struct review_service_list_reviews_call *call,
                          struct review_list *list)
{
    const Errata__V1__ListReviewsRequest *request = call->request;

    if (UNEXPECTED(!review_decision_from_wire((int32_t)request->decision, &list->decision))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (!time_range_read(call->ctx->fault, request->start_time, request->end_time, &list->start_us,
                         &list->end_us)) {
        return ERR_INVALID;
    }
    return id_filter_read_uuid(call->service, request->id_prefix, &list->id_prefix);
}

enum err review_service_list_reviews_read(struct review_service_list_reviews_call *call)
{
    struct review_list list = {
        .org = call->org,
        .run_id = slice_text(call->request->run_id),
        .subcategory = slice_text(call->request->subcategory),
        .reviewed_by = slice_text(call->request->reviewed_by),
        .page = call->page,
    };
    struct review_view view;
    struct event event;
    enum err err = read_list(call, &list);

    if (err == OK) {
        err = review_list_begin(call->txn, &list);
    }
    while (err == OK) {
        err = review_list_next(call->txn, &list, &event, &view);
        if (err == OK) {
            err = review_wire_put_whole(call->ctx->arena, call->txn, &event,
                                        LIST_REVIEWS_RESPONSE_REVIEWS_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns the encoded newest review, in the arena. */
static enum err read_newest(const struct review_service_get_run_call *call, uint64_t seq,
                            struct slice *ret_review)
{
    struct buffer review;
    struct event event;
    enum err err = log_read(call->txn, call->org, seq, &event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    buffer_init(&review, call->ctx->arena, event.facts.size + event.content.size);
    buffer_append(&review, event.facts);
    buffer_append(&review, event.content);
    *ret_review = buffer_slice(&review);
    return buffer_ok(&review) ? OK : ERR_MEMORY;
}

enum err review_service_get_run_read(struct review_service_get_run_call *call)
{
    struct slice run_id = slice_text(call->request->run_id);
    struct slice newest = {NULL, 0};
    struct run_report report;
    struct buffer run;
    enum err err = run_report_read(call->ctx->arena, call->txn, call->org, run_id, &report);

    if (err == ERR_NOT_FOUND) {
        return fault_say(
            call->ctx->fault, err,
            "run_id: no review in this organisation; expected the id of a reviewed run");
    }
    if (err == OK) {
        err = read_newest(call, report.answers[0].entry.seq, &newest);
    }
    if (err != OK) {
        return err;
    }
    buffer_init(&run, call->ctx->arena, newest.size);
    err = run_report_write(call->ctx->arena, &report, run_id, newest, &run);
    if (err == OK) {
        wire_put_bytes(call->body, GET_RUN_RESPONSE_RUN_FIELD, buffer_slice(&run));
    }
    return err;
}
