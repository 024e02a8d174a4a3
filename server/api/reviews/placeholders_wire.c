/*
 * placeholders_wire.c: see placeholders_wire.h.
 */
#include "server/api/reviews/placeholders_wire.h"

#include "server/domain/reviews/specs.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

static enum review_answer answer_of(bool is_given, bool value)
{
    if (!is_given) {
        return REVIEW_ABSENT;
    }
    return value ? REVIEW_TRUE : REVIEW_FALSE;
}

static enum err read_review(struct ctx *ctx, const Errata__V1__CurrentReview *review,
                            struct current_review *ret_review)
{
    enum err err = OK;

    if (review == NULL) {
        return OK;
    }
    ret_review->notes = slice_text(review->notes);
    ret_review->flags[REVIEW_INFORMATION_PRESENT] =
        answer_of(review->_information_present_case != 0, review->information_present);
    ret_review->flags[REVIEW_BAD_FORMAT] =
        answer_of(review->_bad_format_case != 0, review->bad_format);
    ret_review->flags[REVIEW_WRONG_INFORMATION] =
        answer_of(review->_wrong_information_case != 0, review->wrong_information);
    ret_review->flags[REVIEW_WRONG_PHYSICAL_DIMENSIONS] =
        answer_of(review->_wrong_physical_dimensions_case != 0, review->wrong_physical_dimensions);
    err = review_specs_normalise(ctx, SLICE("current_review"), review->missing_spec,
                                 review->n_missing_spec, &ret_review->missing_spec);
    return err != OK ? err : fault_result(ctx->fault);
}

enum err placeholders_wire_read(struct ctx *ctx,
                                const Errata__V1__ResolvePlaceholdersRequest *message,
                                struct placeholders_request *request)
{
    request->query.subcategory = slice_text(message->subcategory);
    request->run_id = slice_text(message->run_id);
    request->has_static_example = message->_static_example_case != 0;
    request->static_example = slice_text(message->static_example);
    if (UNEXPECTED(message->n_prompts > PLACEHOLDER_PROMPTS_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    request->prompt_count = message->n_prompts;
    for (size_t i = 0; i < message->n_prompts; i++) {
        request->prompts[i] = (struct named_prompt){slice_text(message->prompts[i]->key),
                                                    slice_text(message->prompts[i]->value)};
    }
    return read_review(ctx, message->current_review, &request->review);
}
