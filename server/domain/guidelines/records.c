/*
 * records.c: see records.h.
 */
#include "server/domain/guidelines/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/guidelines.views.h>

/* Returns whether the state and the events that made it agree. */
static bool fits(const struct proposal_record *record)
{
    bool was_active = record->activated_seq != 0;
    bool has_ended = record->ended_seq != 0;

    switch ((enum artifact_state)record->life.state) {
    case ARTIFACT_STATE_PROPOSED:
    case ARTIFACT_STATE_SHADOW:
        return !was_active && !has_ended;
    case ARTIFACT_STATE_ACTIVE:
    case ARTIFACT_STATE_SUNSET_PROPOSED:
        return was_active && !has_ended && record->vote_seq == record->activated_seq;
    case ARTIFACT_STATE_RETIRED:
        return was_active && record->ended_seq > record->activated_seq;
    case ARTIFACT_STATE_REJECTED:
        return !was_active && has_ended && record->vote_seq <= record->ended_seq;
    case ARTIFACT_STATE_UNSPECIFIED:
        break;
    }
    return false;
}

enum err record_decode_proposal(struct slice bytes, struct proposal_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct proposal_row_view message;
    struct proposal_record record;
    enum err err = proposal_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct proposal_record){
        .vote_seq = message.vote_seq,
        .expedited = message.expedited,
        .evidence_count = message.evidence_count,
        .activated_seq = message.activated_seq,
        .ended_seq = message.ended_seq,
        .kept_seq = message.kept_seq,
    };
    record_need(&check, record_decode_artifact_life(message.life, &record.life) == OK);
    record_need(&check, !check.failed && fits(&record));
    if (!check.failed) {
        *ret_record = record;
    }
    return record_check_result(&check);
}

enum err record_encode_proposal(struct arena *arena, const struct proposal_record *record,
                                struct slice *ret_bytes)
{
    struct proposal_row_view message = {
        .vote_seq = record->vote_seq,
        .expedited = record->expedited,
        .evidence_count = record->evidence_count,
        .activated_seq = record->activated_seq,
        .ended_seq = record->ended_seq,
        .kept_seq = record->kept_seq,
    };
    enum err err = OK;

    if (UNEXPECTED(!fits(record))) {
        return ERR_INTERNAL;
    }
    err = record_encode_artifact_life(arena, &record->life, &message.life);
    return err != OK ? err : record_encode(arena, &proposal_row_view_type, &message, ret_bytes);
}
