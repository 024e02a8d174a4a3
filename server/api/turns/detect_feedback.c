/*
 * detect_feedback.c: TurnService/DetectFeedback.
 */
#include "server/api/turns/turn_wire.h"
#include "server/domain/cues/masks.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "server/pipeline/texts.h"
#include "store/base/assert.h"

#include <errata/v1/turn_service.fields.h>
#include <errata/v1/turn_service.handlers.h>
#include <errata/v1/turn_service.views.h>

/* Removes the texts that the application inserted into the message. */
static enum err read_words(struct arena *arena, const Errata__V1__DetectFeedbackRequest *request,
                           struct detect_input *input)
{
    const struct slice *spans = NULL;
    enum err err = texts_copy(arena, request->injected_spans, request->n_injected_spans, &spans);

    return err != OK ? err
                     : masks_remove_spans(arena, input->message, spans, request->n_injected_spans,
                                          &input->words);
}

/* Embeds the user's own words. */
static enum err embed(struct turn_service_detect_feedback_call *call, struct detect_input *input)
{
    const Errata__V1__DetectFeedbackRequest *request = call->request;
    enum err err =
        turn_wire_take_vector(call->ctx, request->embedding, request->n_embedding, &input->vector);

    return err != OK ? err
                     : turn_wire_embed(call->service, call->org, input->words, &input->vector);
}

enum err turn_service_detect_feedback_prepare(struct turn_service_detect_feedback_call *call)
{
    const Errata__V1__DetectFeedbackRequest *request = call->request;
    struct detect_input *input = arena_calloc(call->ctx->arena, 1, sizeof(*input));
    enum err err = OK;

    if (input == NULL) {
        return ERR_MEMORY;
    }
    *input = (struct detect_input){
        .session_id = slice_text(request->session_id),
        .turn_id = slice_text(request->turn_id),
        .time = time_given(request->created_at),
        .message = slice_text(request->message),
        .intent = slice_text(request->intent),
        .entity_count = request->n_entities,
        .what_went_wrong = slice_text(request->what_went_wrong),
        .advice = slice_text(request->advice),
    };
    if (UNEXPECTED(!message_author_from_wire((int32_t)request->author, &input->author))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = texts_copy(call->ctx->arena, request->entities, request->n_entities, &input->entities);
    if (err == OK) {
        err = turn_wire_read_references(call->service, request->exposure_refs,
                                        request->n_exposure_refs, &input->references);
    }
    if (err == OK) {
        err = read_words(call->ctx->arena, request, input);
    }
    if (err == OK) {
        err = embed(call, input);
    }
    if (err == OK) {
        call->prepared = input;
    }
    return err;
}

enum err turn_service_detect_feedback_write(struct turn_service_detect_feedback_call *call)
{
    struct detect_input input = *(const struct detect_input *)call->prepared;
    struct log_head before;
    uint64_t seq = 0;
    enum err err = log_read_head(call->txn, call->org, &before);

    input.caller = caller_of(call->service);
    if (err == OK) {
        err = turn_detect(call->ctx, call->txn, call->org, call->service->env->cues, &input, &seq);
    }
    if (err == OK) {
        bool is_new = seq > before.last_seq;

        call->result->first_seq = is_new ? before.last_seq + 1 : seq;
        call->result->count = is_new ? (uint32_t)(seq - before.last_seq) : 1;
    }
    return err;
}

/* Encodes the previous turn as it was after the event. */
static enum err encode_previous(struct turn_service_detect_feedback_call *call,
                                const struct feedback_detected_view *detected,
                                struct slice *ret_turn)
{
    struct user_feedback_view feedback;
    struct event event;
    enum err err = log_read(call->txn, call->result->org, detected->previous_seq, &event);

    if (err == OK) {
        err = user_feedback_view_read(detected->previous_feedback, &feedback);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    feedback.user_said = detected->previous_user_said;
    return turn_encode(call->ctx->arena, &event, &feedback, ret_turn);
}

enum err turn_service_detect_feedback_answer(struct turn_service_detect_feedback_call *call)
{
    struct detect_feedback_response_view response = {.confidence = 0};
    struct feedback_detected_view detected;
    struct matched_cue_view cue = {.evidence = {NULL, 0}};
    struct event event;
    /* Exposures come before the detection. */
    enum err err = log_read(call->txn, call->result->org,
                            call->result->first_seq + call->result->count - 1, &event);

    if (err == OK) {
        err = event.kind != EVENT_FEEDBACK_DETECTED
                  ? ERR_CORRUPT
                  : view_read_parts(&feedback_detected_view_type, event.facts, event.content,
                                    &detected);
    }
    if (err == OK && detected.previous_seq != 0) {
        err = encode_previous(call, &detected, &response.previous_turn);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    cue.has_evidence = true;
    cue.evidence = detected.evidence;
    response.has_matched_cue = true;
    response.has_previous_turn = detected.previous_seq != 0;
    cue.matched = detected.matched;
    if (!view_encode(&matched_cue_view_type, &cue, call->ctx->arena, &response.matched_cue)) {
        return ERR_MEMORY;
    }
    response.feedback_type = detected.feedback_type;
    response.confidence = detected.confidence;
    response.correction_type = detected.correction_type;
    response.tier = detected.tier;
    response.acceptance_kind = detected.acceptance_kind;
    response.user_said = detected.user_said;
    response.consecutive_rejections = detected.consecutive_rejections;
    response.suggest_clarify = detected.consecutive_rejections >= TURN_CLARIFY_REJECTIONS;
    response.context_section = detected.context_section;
    response.id = detected.id;
    detect_feedback_response_view_write(&response, call->body);
    return buffer_ok(call->body) ? OK : ERR_MEMORY;
}
