/*
 * submit_review.c: ReviewService/SubmitReview. Converts wire messages to values for the domain, and
 * stored events to responses; the rules are in the domain.
 */
#include "server/api/reviews/review_log.h"
#include "server/api/reviews/review_wire.h"
#include "server/domain/reviews/reviews.h"
#include "server/domain/reviews/specs.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/review_service.fields.h>
#include <errata/v1/review_service.handlers.h>

static enum review_answer answer_of(bool is_given, bool value)
{
    if (!is_given) {
        return REVIEW_ABSENT;
    }
    return value ? REVIEW_TRUE : REVIEW_FALSE;
}

static void read_flags(const Errata__V1__Review *review, enum review_answer *flags)
{
    flags[REVIEW_INFORMATION_PRESENT] =
        answer_of(review->_information_present_case != 0, review->information_present);
    flags[REVIEW_BAD_FORMAT] = answer_of(review->_bad_format_case != 0, review->bad_format);
    flags[REVIEW_WRONG_INFORMATION] =
        answer_of(review->_wrong_information_case != 0, review->wrong_information);
    flags[REVIEW_WRONG_PHYSICAL_DIMENSIONS] =
        answer_of(review->_wrong_physical_dimensions_case != 0, review->wrong_physical_dimensions);
}

static enum err read_references(struct ctx *ctx, const Errata__V1__Review *review,
                                struct review_input *input)
{
    struct slice *references =
        arena_calloc(ctx->arena, review->n_exposure_refs + 1, sizeof(*references));

    if (references == NULL) {
        return ERR_MEMORY;
    }
    if (UNEXPECTED(review->n_exposure_refs > REVIEW_REFERENCES_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    for (size_t i = 0; i < review->n_exposure_refs; i++) {
        references[i] = slice_text(review->exposure_refs[i]);
    }
    input->exposure_refs = references;
    input->exposure_ref_count = review->n_exposure_refs;
    return OK;
}

static enum err read_review(struct ctx *ctx, const Errata__V1__Review *review,
                            struct review_input *input)
{
    enum err err = OK;

    *input = (struct review_input){
        .reviewed_by = slice_text(review->reviewed_by),
        .run_id = slice_text(review->run_id),
        .item_id = slice_text(review->item_id),
        .subcategory = slice_text(review->subcategory),
        .state = slice_text(review->state),
        .time = time_given(review->created_at),
        .notes = slice_text(review->notes),
        .item_snapshot_json = slice_text(review->item_snapshot_json),
    };
    read_flags(review, input->flags);
    err = read_references(ctx, review, input);
    if (err != OK) {
        return err;
    }
    if (UNEXPECTED(!review_decision_from_wire((int32_t)review->decision, &input->decision)) ||
        UNEXPECTED(
            !annotator_kind_from_wire((int32_t)review->annotator_kind, &input->annotator_kind))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    return review_specs_normalise(ctx, SLICE("review"), review->missing_spec,
                                  review->n_missing_spec, &input->missing_spec);
}

enum err review_service_submit_review_prepare(struct review_service_submit_review_call *call)
{
    struct review_input *input = arena_calloc(call->ctx->arena, 1, sizeof(*input));
    enum err err = OK;

    if (input == NULL) {
        return ERR_MEMORY;
    }
    err = read_review(call->ctx, call->request->review, input);
    if (err == OK) {
        err = fault_result(call->ctx->fault);
    }
    if (err == OK) {
        call->prepared = input;
        review_log_form(call->service, input);
    }
    return err;
}

enum err review_service_submit_review_write(struct review_service_submit_review_call *call)
{
    const struct review_request request = {
        .org = call->org,
        .caller = caller_of(call->service),
        .input = call->prepared,
        .key = &call->service->env->exposure_key,
    };
    struct log_head before;
    uint64_t seq = 0;
    enum err err = log_read_head(call->txn, call->org, &before);

    if (err == OK) {
        err = review_submit(call->ctx, call->txn, &request, &seq);
    }
    if (err == OK) {
        call->result->first_seq = before.last_seq + 1;
        call->result->count = (uint32_t)(seq - before.last_seq);
    }
    return err;
}

/* The last event of the write is the review; exposures come before it. */
enum err review_service_submit_review_answer(struct review_service_submit_review_call *call)
{
    struct event event;
    enum err err = log_read(call->txn, call->result->org,
                            call->result->first_seq + call->result->count - 1, &event);

    if (err == OK && event.kind != EVENT_REVIEW_SUBMITTED) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return review_wire_put(&event, SUBMIT_REVIEW_RESPONSE_REVIEW_FIELD, call->body);
}
