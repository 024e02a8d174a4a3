/*
 * record_turn.c: TurnService/RecordTurn and SetFeedback.
 */
#include "server/api/turns/turn_wire.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/turn_service.fields.h>
#include <errata/v1/turn_service.handlers.h>

static enum err read_strategy(struct ctx *ctx, const Errata__V1__Turn *turn,
                              struct turn_input *input)
{
    struct turn_strategy_view strategy = {.tool = {NULL, 0}};

    if (turn->strategy == NULL) {
        return OK;
    }
    strategy.tool = slice_text(turn->strategy->tool);
    strategy.text = slice_text(turn->strategy->text);
    return view_encode(&turn_strategy_view_type, &strategy, ctx->arena, &input->strategy)
               ? OK
               : ERR_MEMORY;
}

static enum err read_entities(struct ctx *ctx, const Errata__V1__Turn *turn,
                              struct turn_input *input)
{
    struct buffer run;

    buffer_init(&run, ctx->arena, 0);
    for (size_t i = 0; i < turn->n_response_entities; i++) {
        turn_view_add_response_entities(&run, slice_text(turn->response_entities[i]));
    }
    input->entities = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

enum err turn_service_record_turn_prepare(struct turn_service_record_turn_call *call)
{
    const Errata__V1__Turn *turn = call->request->turn;
    struct turn_input *input = arena_calloc(call->ctx->arena, 1, sizeof(*input));
    enum err err = OK;

    if (input == NULL) {
        return ERR_MEMORY;
    }
    *input = (struct turn_input){
        .session_id = slice_text(turn->session_id),
        .turn_id = slice_text(turn->turn_id),
        .time = time_given(turn->created_at),
        .intent = slice_text(turn->intent),
        .quality = turn->quality_score,
        .query = slice_text(turn->query),
        .has_response = turn->_response_summary_case != 0,
        .response = slice_text(turn->response_summary),
    };
    if (UNEXPECTED(
            !validation_outcome_from_wire((int32_t)turn->validation_outcome, &input->outcome))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = read_strategy(call->ctx, turn, input);
    if (err == OK) {
        err = read_entities(call->ctx, turn, input);
    }
    if (err == OK) {
        err = turn_wire_read_references(call->service, call->request->exposure_refs,
                                        call->request->n_exposure_refs, &input->references);
    }
    if (err == OK) {
        err = turn_wire_take_vector(call->ctx, call->request->embedding, call->request->n_embedding,
                                    &input->vector);
    }
    if (err == OK) {
        err = turn_wire_embed(call->service, call->org, input->query, &input->vector);
    }
    if (err == OK) {
        call->prepared = input;
    }
    return err;
}

enum err turn_service_record_turn_write(struct turn_service_record_turn_call *call)
{
    struct turn_input input = *(const struct turn_input *)call->prepared;
    struct log_head before;
    uint64_t seq = 0;
    enum err err = log_read_head(call->txn, call->org, &before);

    input.caller = caller_of(call->service);
    if (err == OK) {
        err = turn_record(call->ctx, call->txn, call->org, &input, &seq);
    }
    if (err == OK) {
        call->result->first_seq = before.last_seq + 1;
        call->result->count = (uint32_t)(seq - before.last_seq);
    }
    return err;
}

/* Appends a turn as it was when its event was written: no message had judged it yet. Exposures come
 * before its event. */
enum err turn_service_record_turn_answer(struct turn_service_record_turn_call *call)
{
    const struct turn_record record = {.seq = call->result->first_seq + call->result->count - 1};

    return turn_wire_put(call->ctx->arena, call->txn, call->result->org, &record,
                         RECORD_TURN_RESPONSE_TURN_FIELD, call->body);
}

enum err turn_service_set_feedback_write(struct turn_service_set_feedback_call *call)
{
    struct judge_input input = {
        .caller = caller_of(call->service),
        .session_id = slice_text(call->request->session_id),
        .turn_id = slice_text(call->request->turn_id),
        .actor_user_id = slice_text(call->request->actor_user_id),
        .reason = slice_text(call->request->reason),
    };
    enum err err = OK;

    if (UNEXPECTED(!turn_status_from_wire((int32_t)call->request->status, &input.status) ||
                   input.status == TURN_STATUS_UNSPECIFIED)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = turn_judge(call->ctx, call->txn, call->org, &input, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

/* Appends the turn as it is after the judgement. */
enum err turn_service_set_feedback_answer(struct turn_service_set_feedback_call *call)
{
    struct turn_feedback_set_view view;
    struct turn_record record = {.created_at_us = 0};
    enum err err = OK;
    struct event event;

    err = log_read(call->txn, call->result->org, call->result->first_seq, &event);
    if (err == OK) {
        err = event.kind == EVENT_TURN_FEEDBACK_SET
                  ? turn_feedback_set_view_read(event.facts, &view)
                  : ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    record.seq = view.turn_seq;
    record.marked_seq = view.detection_seq;
    record.set_seq = event.seq;
    return turn_wire_put(call->ctx->arena, call->txn, call->result->org, &record,
                         SET_FEEDBACK_RESPONSE_TURN_FIELD, call->body);
}
