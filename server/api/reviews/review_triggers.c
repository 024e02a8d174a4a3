/*
 * review_triggers.c: ReviewService/GetTriggers and SetTriggerThresholds. A window of few reviews is read on the loop;
 * one of many, and one of the past, on the pool.
 */
#include "server/api/reviews/review_log.h"
#include "server/domain/reviews/triggers.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/wire.h"

#include <errata/v1/event.views.h>
#include <errata/v1/review_service.handlers.h>
#include <errata/v1/review_triggers.fields.h>

/* Maximum reviews that are read in less than a quarter of a millisecond: each takes about 1 us, and
 * its fields another 1 us. */
#define REVIEWS_ON_LOOP_MAX 100

static struct review_window_query query_of(const struct review_service_get_triggers_call *call)
{
    return (struct review_window_query){
        .org = call->org,
        .subcategory = slice_text(call->request->subcategory),
        .as_of_seq = call->as_of.is_given ? call->as_of.seq : REVIEWS_NOW,
        .runs_max = REVIEW_WINDOW_RUNS,
        .is_cancelled = service_was_cancelled,
        .user = call->service,
    };
}

enum err review_service_get_triggers_cost(struct review_service_get_triggers_call *call)
{
    const struct review_window_query query = query_of(call);
    uint64_t review_count = 0;
    enum err err = OK;

    call->cost = READ_IS_LONG;
    if (call->as_of.is_given) {
        return OK;
    }
    err = review_window_cost(call->txn, &query, &review_count);
    if (err == OK && review_count <= REVIEWS_ON_LOOP_MAX) {
        call->cost = READ_IS_SHORT;
    }
    return err;
}

enum err review_service_get_triggers_read(struct review_service_get_triggers_call *call)
{
    struct review_window_query query = query_of(call);
    struct slice message = {NULL, 0};
    struct review_triggers triggers;
    enum err err = review_triggers_read(call->ctx->arena, call->txn, &query, &triggers);

    if (err == OK) {
        review_log_triggers(call->service, &triggers);
        err = review_triggers_encode(call->ctx->arena, &triggers, &message);
    }
    if (err == OK) {
        wire_put_bytes(call->body, GET_TRIGGERS_RESPONSE_TRIGGERS_FIELD, message);
    }
    return err;
}

enum err
review_service_set_trigger_thresholds_write(struct review_service_set_trigger_thresholds_call *call)
{
    const Errata__V1__ReviewThresholds *given = call->request->thresholds;
    const struct review_thresholds_change change = {
        .org = call->org,
        .caller = caller_of(call->service),
        .subcategory = slice_text(call->request->subcategory),
        .values = {[THRESHOLD_BAD_FORMAT] = given->bad_format,
                   [THRESHOLD_WRONG_INFORMATION] = given->wrong_information,
                   [THRESHOLD_WRONG_PHYSICAL_DIMENSIONS] = given->wrong_physical_dimensions,
                   [THRESHOLD_MISSING_SPEC] = given->missing_spec,
                   [THRESHOLD_INFORMATION_PRESENT_LOW] = given->information_present_low},
        .reviews_needed = given->reviews_needed,
    };
    enum err err = review_thresholds_set(call->ctx, call->txn, &change, &call->result->first_seq);

    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err review_service_set_trigger_thresholds_answer(
    struct review_service_set_trigger_thresholds_call *call)
{
    struct trigger_thresholds_set_view facts;
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK && event.kind != EVENT_TRIGGER_THRESHOLDS_SET) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = trigger_thresholds_set_view_read(event.facts, &facts);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    wire_put_bytes(call->body, SET_TRIGGER_THRESHOLDS_RESPONSE_THRESHOLDS_FIELD, facts.thresholds);
    return OK;
}
