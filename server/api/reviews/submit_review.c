/*
 * submit_review.c: ReviewService/SubmitReview. Wire messages become values for the domain, and stored events become
 * responses; the rules are in the domain.
 */
#include "server/api/reviews/review_wire.h"
#include "server/domain/reviews/reviews.h"
#include "server/domain/reviews/specs.h"
#include "server/pipeline/caller.h"
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

static enum err read_review(struct ctx *ctx, const Errata__V1__Review *review,
                            struct review_input *input)
{
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
    if (UNEXPECTED(!review_decision_from_wire((int32_t)review->decision, &input->decision)) ||
        UNEXPECTED(
            !annotator_kind_from_wire((int32_t)review->annotator_kind, &input->annotator_kind))) {
        return ERR_INTERNAL; /* check_request refuses it */
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
    }
    return err;
}

enum err review_service_submit_review_write(struct review_service_submit_review_call *call)
{
    const struct review_request request = {
        .org = call->org,
        .caller = caller_of(call->service),
        .input = call->prepared,
    };
    enum err err = review_submit(call->ctx, call->txn, &request, &call->result->first_seq);

    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err review_service_submit_review_answer(struct review_service_submit_review_call *call)
{
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK && event.kind != EVENT_REVIEW_SUBMITTED) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return review_wire_put(&event, SUBMIT_REVIEW_RESPONSE_REVIEW_FIELD, call->body);
}
