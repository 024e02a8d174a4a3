/*
 * dead_letter_service.c: the methods of DecisionService over entries of the stream that could not be stored.
 */
#include "server/api/decisions/decision_intake.h"
#include "server/api/decisions/decision_wire.h"
#include "server/domain/retention/erasure.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "store/base/assert.h"

#include <errata/v1/decision_service.handlers.h>
#include <errata/v1/decision_service.views.h>

/* Why the content of a dead letter is erased. */
#define ERASURE_REASON "its entry is stored as a decision"

/* Prepared part of a retry. */
struct retry {
    bool is_repeat; /* it was retried with success before, and there is nothing to prepare */
    struct decision_intake intake;
};

enum err
decision_service_list_dead_letters_read(struct decision_service_list_dead_letters_call *call)
{
    struct dead_letter_view view;
    enum err err = dead_letter_list_begin(call->txn, call->org, call->page);

    while (err == OK) {
        err = dead_letter_list_next(call->txn, call->org, call->page, &view);
        if (err == OK) {
            dead_letter_view_put(&view, LIST_DEAD_LETTERS_RESPONSE_DEAD_LETTERS_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err find(struct ctx *ctx, struct store_txn *txn, struct org_id org, const char *id,
                     struct dead_letter *ret_letter)
{
    struct uuid uuid;

    if (UNEXPECTED(!uuid_parse(slice_text(id), &uuid))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    return dead_letter_find(ctx, txn, org, uuid, ret_letter);
}

/* Reads the entry, and prepares its decision while the transaction holds its bytes. */
static enum err prepare(struct decision_service_retry_dead_letter_call *call, struct store_txn *txn,
                        struct retry *retry)
{
    struct dead_letter letter;
    struct stream_entry entry;
    enum err err = find(call->ctx, txn, call->org, call->request->dead_letter_id, &letter);

    if (err != OK) {
        return err;
    }
    retry->is_repeat = letter.retried_seq != 0;
    if (retry->is_repeat) {
        return OK;
    }
    err = dead_letter_read_entry(call->ctx, &letter, &entry);
    if (err == OK) {
        err = decision_intake_prepare(call->ctx, call->service->env, call->org, &entry,
                                      &retry->intake);
    }
    return err;
}

enum err
decision_service_retry_dead_letter_prepare(struct decision_service_retry_dead_letter_call *call)
{
    struct retry *retry = arena_calloc(call->ctx->arena, 1, sizeof(*retry));
    struct store_txn *txn = NULL;
    enum err err =
        retry == NULL ? ERR_MEMORY : store_begin(call->service->env->backend, STORE_READ, &txn);

    if (err != OK) {
        return err;
    }
    err = prepare(call, txn, retry);
    store_abort(txn);
    if (err == OK) {
        call->prepared = retry;
    }
    return err;
}

/* Removes the copy of the entry, which is now a decision: what a person has erased there must not be left here. */
static enum err erase_entry(struct decision_service_retry_dead_letter_call *call,
                            uint64_t letter_seq)
{
    const struct erasure_target target = {
        .org = call->org, .subject = ERASURE_OF_EVENTS, .seqs = &letter_seq, .seq_count = 1};
    const struct erasure_step step = {.target = &target,
                                      .seqs = &letter_seq,
                                      .seq_count = 1,
                                      .actor_user_id = service_actor(call->service),
                                      .reason = SLICE(ERASURE_REASON)};
    uint64_t seq = 0;

    return erasure_remove_content(call->ctx, call->txn, &step, &seq);
}

/* Stores the decision, erases the entry, and then stores that the dead letter was retried. */
static enum err store_decision(struct decision_service_retry_dead_letter_call *call,
                               const struct dead_letter *letter, struct retry *retry)
{
    struct dead_letter_retry retried = {
        .org = call->org, .caller = caller_of(call->service), .letter = letter};
    struct work_result stored = {.count = 0};
    struct decision_view view;
    struct log_head before;
    uint64_t seq = 0;
    enum err err = log_read_head(call->txn, call->org, &before);

    if (err == OK) {
        err = decision_intake_write(&retry->intake, call->ctx, call->txn, &stored);
    }
    if (err == OK) {
        err = decision_find_recorded(call->txn, &stored, &seq, &view);
    }
    if (err == OK) {
        retried.feedback_id = view.id;
        err = erase_entry(call, letter->seq);
    }
    if (err == OK) {
        err = dead_letter_mark_retried(call->ctx, call->txn, &retried, &seq);
    }
    if (err == OK) {
        call->result->first_seq = before.last_seq + 1;
        call->result->count = (uint32_t)(seq - before.last_seq);
    }
    return err;
}

enum err
decision_service_retry_dead_letter_write(struct decision_service_retry_dead_letter_call *call)
{
    struct retry *retry = (struct retry *)call->prepared;
    struct dead_letter letter;
    enum err err = find(call->ctx, call->txn, call->org, call->request->dead_letter_id, &letter);

    if (err != OK) {
        return err;
    }
    if (letter.retried_seq != 0) {
        call->result->first_seq = letter.retried_seq;
        call->result->count = 1;
        return OK;
    }
    return UNEXPECTED(retry->is_repeat) ? ERR_INTERNAL : store_decision(call, &letter, retry);
}

enum err
decision_service_retry_dead_letter_answer(struct decision_service_retry_dead_letter_call *call)
{
    const struct work_result *result = call->result;
    struct retry_dead_letter_response_view response;
    enum err err = dead_letter_read_retry(
        call->txn, result->org, result->first_seq + result->count - 1, &response.feedback_id);

    if (err == OK) {
        retry_dead_letter_response_view_write(&response, call->body);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
