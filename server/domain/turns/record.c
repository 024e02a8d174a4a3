/*
 * record.c: decides and appends a turn.
 */
#include "server/domain/exposures/citations.h"
#include "server/domain/turns/citations.h"

#include <event_apply.h>
#include <math.h>

/* Quality scores are stored in this unit. */
#define QUALITY_UNIT 1000000.0

static enum err encode(struct ctx *ctx, const struct turn_input *input,
                       const struct turn_citations *citations, struct event_draft *draft)
{
    struct buffer seqs;
    struct turn_view view = {
        .id = draft->stamp.id,
        .org_id = draft->org.uuid,
        .session_id = input->session_id,
        .turn_id = input->turn_id,
        .has_created_at = true,
        .created_at_us = draft->created_at_us,
        .has_intent = input->intent.size > 0,
        .intent = input->intent,
        .validation_outcome = input->outcome,
        .quality_score = round(input->quality * QUALITY_UNIT) / QUALITY_UNIT,
        .embedder_id = input->vector.space,
        .query = input->query,
        .has_response_summary = input->has_response,
        .response_summary = input->response,
        .has_strategy = input->strategy.size > 0,
        .strategy = input->strategy,
        .response_entities = {.run = input->entities},
    };

    buffer_init(&seqs, ctx->arena, citations->count * WIRE_OVERHEAD_BYTES);
    for (size_t i = 0; i < citations->count; i++) {
        turn_view_add_exposure_seqs(&seqs, citations->items[i].seq);
    }
    view.exposure_seqs.run = buffer_slice(&seqs);
    return buffer_ok(&seqs) && view_encode_parts(&turn_view_type, &view, ctx->arena, &draft->facts,
                                                 &draft->content)
               ? OK
               : ERR_MEMORY;
}

static enum err check_new(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          const struct turn_input *input)
{
    struct turn_hash hash = turn_hash_of(input->session_id, input->turn_id);
    struct turn_record record;
    enum err err = turn_read(txn, org, &hash, &record);

    if (err == OK) {
        return fault_say(ctx->fault, ERR_EXISTS,
                         "turn.turn_id: the session has this turn; expected a new id");
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err turn_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                     const struct turn_input *input, uint64_t *ret_seq)
{
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_TURN_RECORDED,
        .annotator = ANNOTATOR_CODE,
    };
    struct turn_citations *citations = arena_calloc(ctx->arena, 1, sizeof(*citations));
    enum err err = citations != NULL ? check_new(ctx, txn, org, input) : ERR_MEMORY;

    if (err == OK) {
        err = turn_citations_read(ctx, txn, org, &input->references, citations);
    }
    if (err == OK) {
        err = actor_resolve(ctx, &input->caller, SLICE("turn"), slice_of(NULL, 0), false,
                            &draft.actor_user_id);
    }
    if (err == OK) {
        err = event_time_check_now(ctx, txn, org, &input->time, SLICE("turn"));
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    if (err == OK) {
        err = exposures_record(ctx, txn, org,
                               &(struct exposure_citer){draft.actor_user_id, input->time},
                               citations->items, citations->count);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &input->time, &draft);
    }
    if (err == OK) {
        err = encode(ctx, input, citations, &draft);
    }
    if (err != OK) {
        return err;
    }
    event_draft_add_subject(&draft, SUBJECT_SESSION, input->session_id);
    event_draft_add_subject(&draft, SUBJECT_TURN, input->turn_id);
    err = event_draft_append(ctx, txn, &draft, turns_apply, ret_seq);
    return err != OK ? err : turn_vector_put(ctx->arena, txn, org, *ret_seq, &input->vector);
}
