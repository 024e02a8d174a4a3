/*
 * turn_wire.c: see turn_wire.h.
 */
#include "server/api/turns/turn_wire.h"

#include "server/pipeline/embedding.h"
#include "server/pipeline/env.h"
#include "server/pipeline/texts.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/turn_service.fields.h>
#include <errata/v1/turn_service.views.h>

/* Default number of strategies of a search. */
#define SEARCH_LIMIT_DEFAULT 10

_Static_assert(EMBEDDING_SPACE_BYTES_MAX <= TURN_SPACE_BYTES_MAX, "rows have room for every space");

/* Reads the event of a turn, and the current feedback on it. */
static enum err read_turn(struct store_txn *txn, struct org_id org,
                          const struct turn_record *record, struct event *ret_event,
                          struct user_feedback_view *ret_feedback)
{
    enum err err = log_read(txn, org, record->seq, ret_event);

    if (err == OK) {
        err = turn_feedback_read(txn, org, record, ret_feedback);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err put_turn(struct arena *arena, const struct event *event,
                         const struct user_feedback_view *feedback, uint32_t field,
                         struct buffer *body)
{
    struct slice turn = {NULL, 0};
    enum err err = turn_encode(arena, event, feedback, &turn);

    if (err != OK) {
        return err;
    }
    wire_put_bytes(body, field, turn);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err turn_wire_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                       const struct turn_record *record, uint32_t field, struct buffer *body)
{
    struct user_feedback_view feedback;
    struct event event;
    enum err err = read_turn(txn, org, record, &event, &feedback);

    return err != OK ? err : put_turn(arena, &event, &feedback, field, body);
}

enum err turn_wire_read_references(const struct service *service, char *const *references,
                                   size_t count, struct turn_references *ret_references)
{
    const struct slice *items = NULL;
    enum err err = texts_copy(service->ctx->arena, references, count, &items);

    if (UNEXPECTED(count > TURN_REFERENCES_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    *ret_references = (struct turn_references){&service->env->exposure_key, items, count};
    return err;
}

static enum metadata_correction correction_of(enum correction_type type)
{
    switch (type) {
    case CORRECTION_TYPE_EXPLICIT:
        return METADATA_CORRECTION_EXPLICIT_CORRECTION;
    case CORRECTION_TYPE_REPHRASED:
        return METADATA_CORRECTION_REPHRASED_QUERY;
    case CORRECTION_TYPE_ABANDONMENT:
        return METADATA_CORRECTION_ABANDONMENT;
    case CORRECTION_TYPE_UNSPECIFIED:
        break;
    }
    return METADATA_CORRECTION_UNSPECIFIED;
}

/* Appends a turn in the form of `metadata.json`. */
static enum err put_metadata(struct arena *arena, const struct event *event,
                             const struct user_feedback_view *feedback, struct buffer *body)
{
    const struct metadata_feedback_view said = {
        .status = feedback->status,
        .has_detected_at = feedback->has_detected_at,
        .detected_at_us = feedback->detected_at_us,
        .has_detected_in_turn = feedback->has_detected_in_turn,
        .detected_in_turn = feedback->detected_in_turn,
        .correction_type = correction_of(feedback->correction_type),
        .confidence = feedback->confidence,
        .has_user_said = feedback->user_said.size > 0,
        .user_said = feedback->user_said,
    };
    struct turn_metadata_view metadata = {.has_user_feedback = true};
    struct turn_view turn;
    enum err err = turn_view_of_event(event, &turn);

    if (err != OK) {
        return err;
    }
    if (!view_encode(&metadata_feedback_view_type, &said, arena, &metadata.user_feedback)) {
        return ERR_MEMORY;
    }
    metadata.turn_id = turn.turn_id;
    metadata.session_id = turn.session_id;
    metadata.has_timestamp = true;
    metadata.timestamp_us = event->created_at_us;
    metadata.validation_outcome = turn.validation_outcome;
    metadata.quality_score = turn.quality_score;
    turn_metadata_view_put(&metadata, GET_TURN_RESPONSE_METADATA_FIELD, body);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err turn_wire_put_response(struct arena *arena, struct store_txn *txn, struct org_id org,
                                const struct turn_record *record, struct buffer *body)
{
    struct user_feedback_view feedback;
    struct event event;
    enum err err = read_turn(txn, org, record, &event, &feedback);

    if (err == OK) {
        err = put_turn(arena, &event, &feedback, GET_TURN_RESPONSE_TURN_FIELD, body);
    }
    return err != OK ? err : put_metadata(arena, &event, &feedback, body);
}

static struct turn_vector vector_of(const struct embedding *embedding)
{
    return (struct turn_vector){
        .space = embedding->space,
        .width = embedding->width,
        .values = embedding->values,
        .is_callers = embedding->is_callers,
        .kind = embedding->kind,
    };
}

enum err turn_wire_take_vector(struct ctx *ctx, const float *values, size_t count,
                               struct turn_vector *ret_vector)
{
    struct embedding embedding = {.width = 0};
    enum err err = embedding_of_values(ctx, SLICE("embedding"), values, count, &embedding);

    if (err == OK) {
        *ret_vector = vector_of(&embedding);
    }
    return err;
}

enum err turn_wire_embed(const struct service *service, struct org_id org, struct slice text,
                         struct turn_vector *vector)
{
    struct embedding embedding = {.width = 0};
    enum err err = fault_result(service->ctx->fault);

    if (err != OK || vector->space.size > 0) {
        return err;
    }
    err = embedding_of_text(service, org, text, &embedding);
    if (err == OK) {
        *vector = vector_of(&embedding);
    }
    return err;
}

enum err turn_wire_read_search(const struct service *service, struct org_id org,
                               const Errata__V1__SearchStrategiesRequest *request,
                               struct strategy_query **ret_query)
{
    struct strategy_query *query = arena_calloc(service->ctx->arena, 1, sizeof(*query));
    enum err err = OK;

    if (query == NULL) {
        return ERR_MEMORY;
    }
    *query = (struct strategy_query){
        .org = org,
        .text = slice_text(request->query),
        .intent = slice_text(request->intent),
        .similarity_min = request->_similarity_min_case != 0 ? (float)request->similarity_min
                                                             : (float)STRATEGY_SIMILARITY_MIN,
        .limit = request->limit > 0 ? (size_t)request->limit : SEARCH_LIMIT_DEFAULT,
        .embedder = service->env->embedder,
        .cancelled = &service->cancelled,
    };
    err = turn_wire_take_vector(service->ctx, request->embedding, request->n_embedding,
                                &query->vector);
    if (err == OK && request->n_embedding == 0 && query->text.size == 0) {
        fault_add(service->ctx->fault, SLICE("query"),
                  "missing, as is embedding; expected one of them");
    }
    if (err == OK) {
        err = turn_wire_embed(service, org, query->text, &query->vector);
    }
    *ret_query = query;
    return err;
}
