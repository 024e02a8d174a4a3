/*
 * resolve_placeholders.c: ReviewService/ResolvePlaceholders. If stored reviews, the wording or an item cannot be read,
 * the placeholders are filled without them.
 */
#include "server/api/reviews/placeholders_wire.h"
#include "server/api/reviews/review_log.h"
#include "server/domain/events/removal_past.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include <errata/v1/review_prompts.views.h>
#include <errata/v1/review_service.handlers.h>

/* Maximum work on the loop: reviews, and bytes of prompts and notes. */
#define REVIEWS_ON_LOOP_MAX 100
#define PROMPTS_ON_LOOP_BYTES_MAX ((size_t)64 * 1024)
#define NOTES_ON_LOOP_BYTES_MAX ((size_t)1024)

static struct review_window_query
query_of(const struct review_service_resolve_placeholders_call *call)
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

static size_t prompt_bytes(const Errata__V1__ResolvePlaceholdersRequest *request)
{
    size_t bytes = 0;

    for (size_t i = 0; i < request->n_prompts; i++) {
        bytes += slice_text(request->prompts[i]->value).size;
    }
    return bytes;
}

enum err
review_service_resolve_placeholders_cost(struct review_service_resolve_placeholders_call *call)
{
    const Errata__V1__CurrentReview *review = call->request->current_review;
    const struct review_window_query query = query_of(call);
    uint64_t review_count = 0;
    enum err err = OK;

    call->cost = READ_IS_LONG;
    if (call->as_of.is_given || prompt_bytes(call->request) > PROMPTS_ON_LOOP_BYTES_MAX ||
        (review != NULL && slice_text(review->notes).size > NOTES_ON_LOOP_BYTES_MAX)) {
        return OK;
    }
    err = review_window_cost(call->txn, &query, &review_count);
    if (err == OK && review_count <= REVIEWS_ON_LOOP_MAX) {
        call->cost = READ_IS_SHORT;
    }
    return err == ERR_CORRUPT ? OK : err;
}

/* The lists of a response. */
struct lists {
    struct buffer prompts;
    struct buffer placeholders;
    struct buffer queries;
    struct buffer cuts;
    struct buffer tokens;
};

/* Writes the names under the field of the response. */
static void put_tokens(struct slice names, struct buffer *run)
{
    struct slice name = {NULL, 0};

    while (view_next(&names, &name)) {
        resolve_placeholders_response_view_add_other_tokens(run, name);
    }
}

static enum err write_lists(struct review_service_resolve_placeholders_call *call,
                            const struct placeholders *placeholders, struct lists *lists)
{
    const Errata__V1__ResolvePlaceholdersRequest *request = call->request;
    struct arena *arena = call->ctx->arena;
    enum err err = placeholders_put_prompts(
        arena, placeholders, RESOLVE_PLACEHOLDERS_RESPONSE_PROMPTS_FIELD, &lists->prompts);

    if (err == OK) {
        err = placeholders_put_texts(arena, &placeholders->resolved,
                                     RESOLVE_PLACEHOLDERS_RESPONSE_PLACEHOLDERS_FIELD,
                                     &lists->placeholders);
    }
    put_tokens(placeholders->other_tokens, &lists->tokens);
    for (size_t i = 0; i < request->n_search_queries; i++) {
        resolve_placeholders_response_view_add_search_queries(
            &lists->queries, slice_text(request->search_queries[i]));
    }
    for (int32_t i = CUT_PART_NOTES; i <= CUT_PART_FOCUS_FIELDS; i++) {
        if (placeholders->resolved.cuts[i]) {
            resolve_placeholders_response_view_add_cuts(&lists->cuts, (enum cut_part)i);
        }
    }
    return err;
}

/* Makes the reference of a response; there is none for the past, and for artifacts that are not in the log. */
static enum err refer(struct review_service_resolve_placeholders_call *call,
                      const struct placeholders_request *request,
                      const struct placeholders *placeholders, struct slice *ret_reference)
{
    struct exposure exposure;
    struct log_head head;
    enum err err = OK;

    if (call->as_of.is_given || placeholders->degraded) {
        return OK;
    }
    err = log_read_head(call->txn, call->org, &head);
    if (err == OK) {
        err = placeholders_expose(call->ctx->arena, request, placeholders, &exposure);
    }
    if (err != OK) {
        return err;
    }
    exposure.served_at_us = clock_wall_us(call->ctx->clock);
    exposure.as_of_seq = head.last_seq;
    return exposure_reference(call->ctx->arena, &call->service->env->exposure_key, call->org,
                              &exposure, ret_reference);
}

/* For the past: returns whether the item of the example was there at that time. ERR_PRECONDITION, which names the floor, if
 * the content of all items until then was removed. */
static enum err find_missing(struct review_service_resolve_placeholders_call *call,
                             const struct placeholders *placeholders, bool *ret_is_missing)
{
    struct removal_past past;
    struct event event;
    enum err err = OK;

    *ret_is_missing = false;
    if (!call->as_of.is_given || placeholders->expired_seq == 0 ||
        placeholders->arm == EXPERIMENT_ARM_CONTROL) {
        return OK;
    }
    err = removal_check_floor(call->ctx, call->txn, call->org, CONTENT_CLASS_REVIEWS,
                              call->as_of.seq, "items");
    if (err == OK) {
        err =
            removal_past_read(call->txn, call->org, CONTENT_CLASS_REVIEWS, call->as_of.seq, &past);
    }
    if (err == OK) {
        err = log_read(call->txn, call->org, placeholders->expired_seq, &event);
    }
    return err != OK ? err : removal_is_later(call->txn, &event, &past, ret_is_missing);
}

static enum err answer(struct review_service_resolve_placeholders_call *call,
                       const struct placeholders *placeholders, struct slice reference)
{
    struct resolve_placeholders_response_view view = {
        .has_triggers = true,
        .broad_search_allowed = placeholders->resolved.broad_search_allowed,
        .prefer_json_correction = placeholders->resolved.prefer_json_correction,
        .degraded = placeholders->degraded,
        .arm = placeholders->arm,
        .exposure_ref = reference,
    };
    struct lists lists;
    struct buffer *buffers[] = {&lists.prompts, &lists.placeholders, &lists.queries, &lists.cuts,
                                &lists.tokens};
    bool is_ok = true;
    enum err err = OK;

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        buffer_init(buffers[i], call->ctx->arena, 0);
    }
    err = write_lists(call, placeholders, &lists);
    if (err == OK) {
        err = find_missing(call, placeholders, &view.incomplete);
    }
    if (err == OK) {
        err = review_triggers_encode(call->ctx->arena, &placeholders->triggers, &view.triggers);
    }
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        is_ok = is_ok && buffer_ok(buffers[i]);
    }
    if (err != OK || !is_ok) {
        return err != OK ? err : ERR_MEMORY;
    }
    view.prompts.run = buffer_slice(&lists.prompts);
    view.placeholders.run = buffer_slice(&lists.placeholders);
    view.other_tokens.run = buffer_slice(&lists.tokens);
    view.search_queries.run = buffer_slice(&lists.queries);
    view.cuts.run = buffer_slice(&lists.cuts);
    resolve_placeholders_response_view_write(&view, call->body);
    return OK;
}

enum err
review_service_resolve_placeholders_read(struct review_service_resolve_placeholders_call *call)
{
    struct placeholders_request *request = arena_calloc(call->ctx->arena, 1, sizeof(*request));
    struct placeholders *placeholders = arena_calloc(call->ctx->arena, 1, sizeof(*placeholders));
    struct slice reference = {NULL, 0};
    enum err err = request != NULL && placeholders != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        request->query = query_of(call);
        err = placeholders_wire_read(call->ctx, call->request, request);
    }
    if (err == OK) {
        err = placeholders_fill(call->ctx, call->txn, request, placeholders);
    }
    if (err == OK) {
        review_log_placeholders(call->service, placeholders);
        err = refer(call, request, placeholders, &reference);
    }
    return err != OK ? err : answer(call, placeholders, reference);
}
