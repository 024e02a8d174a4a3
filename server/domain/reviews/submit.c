/*
 * submit.c: decides and appends a review.
 */
#include "server/domain/exposures/citations.h"
#include "server/domain/reviews/citations.h"
#include "server/domain/reviews/reviews.h"
#include "server/domain/reviews/runs.h"
#include "server/domain/reviews/thresholds.h"
#include "server/domain/settings/settings.h"

#include <errata/v1/review.views.h>
#include <event_apply.h>

/* Values that are decided before the event is appended. */
struct submitting {
    const struct review_request *request;
    struct slice reviewed_by;
    enum annotator_kind annotator;
    uint32_t reviews_needed;
    struct review_citations *citations;
};

/* A person's token reviews only for that person. */
static enum err check_reviewer(struct ctx *ctx, const struct review_request *request)
{
    const struct event_caller *caller = &request->caller;
    struct slice named = request->input->reviewed_by;
    struct slice shown = {NULL, 0};

    if (named.size == 0 || slice_equal(named, caller->user_id) ||
        (caller->role != ROLE_OPERATOR && caller->role != ROLE_REVIEWER)) {
        return OK;
    }
    shown = fault_shorten(ctx->fault, named);
    return fault_say(
        ctx->fault, ERR_DENIED,
        "review.reviewed_by: '%.*s' is not the token's user; expected the token's user, "
        "or no value",
        (int)shown.size, (const char *)shown.data);
}

/* Resolves the reviewer, and checks the time. */
static enum err resolve(struct ctx *ctx, struct store_txn *txn, struct submitting *submitting)
{
    const struct review_request *request = submitting->request;
    const struct review_input *input = request->input;
    enum err err = check_reviewer(ctx, request);

    if (err == OK) {
        err = actor_resolve(ctx, &request->caller, SLICE("review"), input->reviewed_by,
                            input->time.is_given, &submitting->reviewed_by);
    }
    submitting->annotator = input->annotator_kind;
    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, SLICE("review"), input->reviewed_by,
                                &submitting->annotator);
    }
    if (err == OK) {
        err = event_time_check_now(ctx, txn, request->org, &input->time, SLICE("review"));
    }
    return err != OK ? err : fault_result(ctx->fault);
}

static enum err check_room(struct ctx *ctx, struct store_txn *txn,
                           const struct review_request *request)
{
    struct review_run_hash run = review_run_hash_of(request->input->run_id);
    struct review_run_record record;
    enum err err = review_run_read(txn, request->org, &run, &record);

    if (err == OK && record.review_count >= REVIEWS_OF_RUN_MAX) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "review.run_id: the run has %d reviews; expected a run with fewer",
                         REVIEWS_OF_RUN_MAX);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Reads how many reviewers are needed: in the subcategory, else in the organisation. */
static enum err read_needed(struct store_txn *txn, const struct review_request *request,
                            uint32_t *ret_needed)
{
    struct review_thresholds_record thresholds;
    struct settings settings;
    enum err err = review_thresholds_read(txn, request->org, request->input->subcategory,
                                          REVIEWS_NOW, &thresholds);

    if (err == OK) {
        err = settings_read(txn, request->org, &settings);
    }
    if (err == OK) {
        *ret_needed =
            thresholds.reviews_needed != 0 ? thresholds.reviews_needed : settings.reviews_needed;
    }
    return err;
}

static void set_flags(const struct review_input *input, struct review_view *view)
{
    const enum review_answer *flags = input->flags;

    view->has_information_present = flags[REVIEW_INFORMATION_PRESENT] != REVIEW_ABSENT;
    view->information_present = flags[REVIEW_INFORMATION_PRESENT] == REVIEW_TRUE;
    view->has_bad_format = flags[REVIEW_BAD_FORMAT] != REVIEW_ABSENT;
    view->bad_format = flags[REVIEW_BAD_FORMAT] == REVIEW_TRUE;
    view->has_wrong_information = flags[REVIEW_WRONG_INFORMATION] != REVIEW_ABSENT;
    view->wrong_information = flags[REVIEW_WRONG_INFORMATION] == REVIEW_TRUE;
    view->has_wrong_physical_dimensions = flags[REVIEW_WRONG_PHYSICAL_DIMENSIONS] != REVIEW_ABSENT;
    view->wrong_physical_dimensions = flags[REVIEW_WRONG_PHYSICAL_DIMENSIONS] == REVIEW_TRUE;
}

static enum err encode(struct ctx *ctx, const struct submitting *submitting,
                       struct event_draft *draft)
{
    const struct review_input *input = submitting->request->input;
    struct review_view view = {
        .id = draft->stamp.id,
        .org_id = draft->org.uuid,
        .reviewed_by = submitting->reviewed_by,
        .has_reviewed_by = submitting->reviewed_by.size > 0,
        .run_id = input->run_id,
        .item_id = input->item_id,
        .has_item_id = input->item_id.size > 0,
        .subcategory = input->subcategory,
        .decision = input->decision,
        .state = input->state,
        .has_state = input->state.size > 0,
        .missing_spec = {.run = input->missing_spec},
        .created_at_us = draft->created_at_us,
        .has_created_at = true,
        .annotator_kind = submitting->annotator,
        .reviews_needed = submitting->reviews_needed,
        .notes = input->notes,
        .has_item_snapshot = input->item_snapshot_json.size > 0,
        .item_snapshot_json = input->item_snapshot_json,
    };

    set_flags(input, &view);
    if (review_citations_encode(ctx->arena, submitting->citations, &view) != OK) {
        return ERR_MEMORY;
    }
    return view_encode_parts(&review_view_type, &view, ctx->arena, &draft->facts, &draft->content)
               ? OK
               : ERR_MEMORY;
}

static enum err append(struct ctx *ctx, struct store_txn *txn, const struct submitting *submitting,
                       uint64_t *ret_seq)
{
    const struct review_input *input = submitting->request->input;
    struct event_draft draft = {
        .org = submitting->request->org,
        .kind = EVENT_REVIEW_SUBMITTED,
        .annotator = (enum annotator)submitting->annotator,
        .actor_user_id = submitting->reviewed_by,
    };
    enum err err = event_draft_stamp(ctx, txn, &input->time, &draft);

    if (err == OK) {
        err = encode(ctx, submitting, &draft);
    }
    if (err != OK) {
        return err;
    }
    event_draft_add_subject(&draft, SUBJECT_SUBCATEGORY, input->subcategory);
    event_draft_add_subject(&draft, SUBJECT_RUN, input->run_id);
    event_draft_add_subject(&draft, SUBJECT_ITEM, input->item_id);
    return event_draft_append(ctx, txn, &draft, reviews_apply, ret_seq);
}

/* Appends the exposures that are not in the log. */
static enum err record_exposures(struct ctx *ctx, struct store_txn *txn,
                                 const struct submitting *submitting)
{
    const struct review_request *request = submitting->request;
    const struct exposure_citer citer = {submitting->reviewed_by, request->input->time};
    struct review_citations *citations = submitting->citations;

    return exposures_record(ctx, txn, request->org, &citer, citations->items, citations->count);
}

enum err review_submit(struct ctx *ctx, struct store_txn *txn, const struct review_request *request,
                       uint64_t *ret_seq)
{
    struct submitting submitting = {
        .request = request,
        .citations = arena_calloc(ctx->arena, 1, sizeof(*submitting.citations)),
    };
    enum err err = submitting.citations != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = review_citations_read(ctx, txn, request, submitting.citations);
    }
    if (err == OK) {
        err = resolve(ctx, txn, &submitting);
    }
    if (err == OK) {
        err = check_room(ctx, txn, request);
    }
    if (err == OK) {
        err = read_needed(txn, request, &submitting.reviews_needed);
    }
    if (err == OK) {
        err = record_exposures(ctx, txn, &submitting);
    }
    return err != OK ? err : append(ctx, txn, &submitting, ret_seq);
}
