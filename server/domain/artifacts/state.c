/*
 * state.c: see state.h.
 */
#include "server/domain/artifacts/state.h"

static bool is_in_effect(enum artifact_state state)
{
    return state == ARTIFACT_STATE_ACTIVE || state == ARTIFACT_STATE_SUNSET_PROPOSED;
}

static bool was_refused(enum artifact_state state)
{
    return state == ARTIFACT_STATE_PROPOSED || state == ARTIFACT_STATE_REJECTED;
}

enum err artifact_state_decide(struct ctx *ctx, bool has_votes, enum artifact_state from,
                               enum artifact_state wanted, enum artifact_state *ret_state)
{
    if (wanted != ARTIFACT_STATE_SHADOW && wanted != ARTIFACT_STATE_ACTIVE &&
        wanted != ARTIFACT_STATE_RETIRED) {
        fault_add(ctx->fault, SLICE("state"),
                  "a state that the server sets; expected SHADOW, ACTIVE or RETIRED");
        return ERR_INVALID;
    }
    if (has_votes && wanted == ARTIFACT_STATE_ACTIVE && !is_in_effect(from)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "state: ACTIVE is reached by votes only; expected approvals");
    }
    *ret_state =
        wanted == ARTIFACT_STATE_RETIRED && was_refused(from) ? ARTIFACT_STATE_REJECTED : wanted;
    return OK;
}
