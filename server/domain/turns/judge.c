/*
 * judge.c: decides and appends a person's judgement of a turn.
 */
#include "server/domain/turns/turns.h"

#include <event_apply.h>

static enum err append(struct ctx *ctx, struct store_txn *txn, const struct judge_input *input,
                       const struct turn_record *record, struct event_draft *draft)
{
    struct turn_feedback_set_view view = {
        .session_id = input->session_id,
        .turn_id = input->turn_id,
        .status = input->status,
        .turn_seq = record->seq,
        .detection_seq = record->marked_seq,
        .previous_set_seq = record->set_seq,
        .has_created_at = true,
        .reason = input->reason,
    };
    const struct event_time now = {.is_given = false};
    enum err err = event_draft_stamp(ctx, txn, &now, draft);

    if (err != OK) {
        return err;
    }
    view.created_at_us = draft->created_at_us;
    if (!turn_status_from_wire((int32_t)record->status, &view.previous_status)) {
        return ERR_CORRUPT;
    }
    if (!view_encode_parts(&turn_feedback_set_view_type, &view, ctx->arena, &draft->facts,
                           &draft->content)) {
        return ERR_MEMORY;
    }
    event_draft_add_subject(draft, SUBJECT_SESSION, input->session_id);
    event_draft_add_subject(draft, SUBJECT_TURN, input->turn_id);
    return OK;
}

enum err turn_judge(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                    const struct judge_input *input, uint64_t *ret_seq)
{
    struct turn_hash hash = turn_hash_of(input->session_id, input->turn_id);
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_TURN_FEEDBACK_SET,
        .annotator = ANNOTATOR_HUMAN,
    };
    struct turn_record record;
    enum err err = turn_read(txn, org, &hash, &record);

    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, ERR_NOT_FOUND,
                         "turn_id: not found in this session; expected the id of a recorded turn");
    }
    if (err == OK) {
        err = actor_resolve(ctx, &input->caller, slice_of(NULL, 0), input->actor_user_id, false,
                            &draft.actor_user_id);
    }
    if (err == OK) {
        err = append(ctx, txn, input, &record, &draft);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, turns_apply, ret_seq);
}
