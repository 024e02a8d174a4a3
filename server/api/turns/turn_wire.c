/*
 * turn_wire.c: see turn_wire.h.
 */
#include "server/api/turns/turn_wire.h"

#include "server/pipeline/embedding.h"
#include "store/base/wire.h"

#include <errata/v1/turn.fields.h>

/* Bytes of what is said of a turn, without the user's words. */
#define FEEDBACK_BYTES 256

_Static_assert(EMBEDDING_SPACE_BYTES_MAX <= TURN_SPACE_BYTES_MAX, "rows have room for every space");

enum err turn_wire_encode(struct arena *arena, const struct event *event,
                          const struct user_feedback_view *feedback, struct slice *ret_turn)
{
    struct turn_view turn;
    struct buffer whole;
    struct turn_view more = {.has_user_feedback = true};
    enum err err = turn_view_of_event(event, &turn);

    if (err != OK) {
        return err;
    }
    if (!view_encode(&user_feedback_view_type, feedback, arena, &more.user_feedback)) {
        return ERR_MEMORY;
    }
    more.satisfaction_score = turn_satisfaction(turn.validation_outcome, feedback->status);
    more.ranking_score = turn_ranking(turn.quality_score, feedback->status);
    buffer_init(&whole, arena,
                event->facts.size + event->content.size + more.user_feedback.size + FEEDBACK_BYTES);
    buffer_append(&whole, event->facts);
    buffer_append(&whole, event->content);
    view_write_range(&turn_view_type, &more, TURN_USER_FEEDBACK_FIELD, UINT32_MAX, &whole);
    *ret_turn = buffer_slice(&whole);
    return buffer_ok(&whole) ? OK : ERR_MEMORY;
}

enum err turn_wire_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                       const struct turn_record *record, uint32_t field, struct buffer *body)
{
    struct user_feedback_view feedback;
    struct slice turn = {NULL, 0};
    struct event event;
    enum err err = log_read(txn, org, record->seq, &event);

    if (err == OK) {
        err = turn_feedback_read(txn, org, record, &feedback);
    }
    if (err == OK) {
        err = turn_wire_encode(arena, &event, &feedback, &turn);
    }
    if (err == OK) {
        wire_put_bytes(body, field, turn);
        err = buffer_ok(body) ? OK : ERR_MEMORY;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
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
