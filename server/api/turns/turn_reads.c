/*
 * turn_reads.c: TurnService's reads of turns and sessions.
 */
#include "server/api/turns/turn_wire.h"
#include "server/domain/turns/list.h"
#include "server/domain/turns/session.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/turn_service.fields.h>
#include <errata/v1/turn_service.handlers.h>
#include <errata/v1/turn_service.views.h>

enum err turn_service_get_turn_read(struct turn_service_get_turn_call *call)
{
    struct turn_hash hash =
        turn_hash_of(slice_text(call->request->session_id), slice_text(call->request->turn_id));
    struct turn_record record;
    enum err err = turn_read(call->txn, call->org, &hash, &record);

    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "turn_id: not found in this session; expected the id of a recorded turn");
    }
    return err != OK ? err
                     : turn_wire_put_response(call->ctx->arena, call->txn, call->org, &record,
                                              call->body);
}

enum err turn_service_list_turns_read(struct turn_service_list_turns_call *call)
{
    struct turn_list list = {
        .org = call->org,
        .session_id = slice_text(call->request->session_id),
        .page = call->page,
    };
    struct turn_record record;
    enum err err = OK;

    if (UNEXPECTED(!turn_status_from_wire((int32_t)call->request->status, &list.status))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = turn_list_begin(call->txn, &list);
    while (err == OK) {
        err = turn_list_next(call->txn, &list, &record);
        if (err == OK) {
            err = turn_wire_put(call->ctx->arena, call->txn, call->org, &record,
                                LIST_TURNS_RESPONSE_TURNS_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err turn_service_get_session_read(struct turn_service_get_session_call *call)
{
    struct get_session_response_view response = {.has_session = true};
    struct turn_session_view session = {.session_id = slice_text(call->request->session_id)};
    struct session_counts counts;
    enum err err = session_count(call->txn, call->org, session.session_id, &counts);

    if (err == ERR_NOT_FOUND) {
        return fault_say(call->ctx->fault, err,
                         "session_id: no turn in this organisation; expected the id of a session");
    }
    if (err != OK) {
        return err;
    }
    session.turn_count = counts.turns;
    session.rejected_count = counts.rejected;
    session.accepted_count = counts.accepted;
    session.neutral_count = counts.neutral;
    session.consecutive_rejections = counts.consecutive;
    session.suggest_clarify = counts.consecutive >= TURN_CLARIFY_REJECTIONS;
    session.longest_rejections = counts.longest;
    session.has_started_at = true;
    session.started_at_us = counts.started_at_us;
    session.has_last_turn_at = true;
    session.last_turn_at_us = counts.last_turn_at_us;
    session.ended = clock_wall_us(call->ctx->clock) - counts.last_turn_at_us > TURN_SILENCE_US;
    if (!view_encode(&turn_session_view_type, &session, call->ctx->arena, &response.session)) {
        return ERR_MEMORY;
    }
    get_session_response_view_write(&response, call->body);
    return OK;
}
