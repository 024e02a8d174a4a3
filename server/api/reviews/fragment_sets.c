/*
 * fragment_sets.c: ReviewService/PutFragmentSet, ApproveFragmentSet and ListFragmentSets.
 */
#include "server/domain/reviews/fragment_sets.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"

#include <errata/v1/review_service.fields.h>
#include <errata/v1/review_service.handlers.h>

/* Copies one fragment of a request to its index; adds a fault if it is invalid. */
static void read_one(struct ctx *ctx, const Errata__V1__PromptFragment *given, size_t index,
                     struct fragment_set *set)
{
    struct slice path = arena_printf(ctx->arena, "fragment_set.fragments[%zu]", index);
    struct slice text = slice_text(given->text);
    enum review_signal signal = REVIEW_SIGNAL_UNSPECIFIED;
    enum review_placeholder placeholder = REVIEW_PLACEHOLDER_UNSPECIFIED;
    size_t place = FRAGMENT_PAIRS;

    if (review_signal_from_wire((int32_t)given->signal, &signal) &&
        review_placeholder_from_wire((int32_t)given->placeholder, &placeholder)) {
        place = fragment_place(signal, placeholder);
    }
    if (place == FRAGMENT_PAIRS) {
        fault_add(ctx->fault, path,
                  "the signal does not feed the placeholder; expected a pair that "
                  "ResolvePlaceholders documents");
    } else if (set->fragments[place].text.size > 0) {
        fault_add(ctx->fault, path, "duplicate pair of signal and placeholder; expected each once");
    } else {
        set->fragments[place].text = text;
    }
    if (!fragment_fits(text)) {
        fault_add(ctx->fault, arena_printf(ctx->arena, "fragment_set.fragments[%zu].text", index),
                  "wrong length; expected 1 to %d characters", FRAGMENT_CHARACTERS_MAX);
    }
}

enum err review_service_put_fragment_set_write(struct review_service_put_fragment_set_call *call)
{
    const Errata__V1__FragmentSet *given = call->request->fragment_set;
    struct fragment_set_draft draft = {
        .org = call->org,
        .caller = caller_of(call->service),
        .set = *fragment_set_default(),
        .comment = slice_text(given->comment),
    };
    enum err err = OK;

    draft.set.label_focus_fields = slice_text(given->label_focus_fields);
    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        draft.set.fragments[i].text = slice_of(NULL, 0);
    }
    for (size_t i = 0; i < given->n_fragments; i++) {
        read_one(call->ctx, given->fragments[i], i, &draft.set);
    }
    fragment_set_check(call->ctx, &draft);
    err = fault_result(call->ctx->fault);
    if (err == OK) {
        err = fragment_set_put(call->ctx, call->txn, &draft, &call->result->first_seq);
    }
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

/* Responds with the set of the written event. */
static enum err answer(struct ctx *ctx, struct store_txn *txn, const struct work_result *result,
                       uint32_t field, struct buffer *body)
{
    struct fragment_set_view view;
    struct event event;
    enum err err = log_read(txn, result->org, result->first_seq, &event);

    if (err == OK) {
        err = fragment_set_of_event(ctx->arena, txn, &event, &view);
    }
    if (err == OK) {
        fragment_set_view_put(&view, field, body);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err review_service_put_fragment_set_answer(struct review_service_put_fragment_set_call *call)
{
    return answer(call->ctx, call->txn, call->result, PUT_FRAGMENT_SET_RESPONSE_FRAGMENT_SET_FIELD,
                  call->body);
}

enum err
review_service_approve_fragment_set_write(struct review_service_approve_fragment_set_call *call)
{
    const struct fragment_set_approval approval = {
        .org = call->org,
        .caller = caller_of(call->service),
        .version = call->request->version,
    };
    enum err err = OK;

    if (call->request->_version_case == 0) {
        fault_add(call->ctx->fault, SLICE("version"), "missing; expected a version, from 0");
        return fault_result(call->ctx->fault);
    }
    err = fragment_set_approve(call->ctx, call->txn, &approval, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err
review_service_approve_fragment_set_answer(struct review_service_approve_fragment_set_call *call)
{
    return answer(call->ctx, call->txn, call->result,
                  APPROVE_FRAGMENT_SET_RESPONSE_FRAGMENT_SET_FIELD, call->body);
}

enum err review_service_list_fragment_sets_read(struct review_service_list_fragment_sets_call *call)
{
    struct fragment_set_list list = {.org = call->org, .page = call->page};
    struct fragment_set_view view;
    enum err err = fragment_set_list_begin(call->txn, &list);

    while (err == OK) {
        err = fragment_set_list_next(call->ctx->arena, call->txn, &list, &view);
        if (err == OK) {
            fragment_set_view_put(&view, LIST_FRAGMENT_SETS_RESPONSE_FRAGMENT_SETS_FIELD,
                                  call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
