/*
 * state.h: changes the state of an artifact by a decision of a person.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEARNING_STATE_H
#define ERRATA_SERVER_DOMAIN_LEARNING_STATE_H

#include "server/domain/events/actor.h"
#include "store/log.h"

#include <errata/v1/artifact.fields.h>

struct artifact_decision {
    struct org_id org;
    struct event_caller caller;
    struct uuid artifact_id;
    enum artifact_state state;
    struct slice reason;
};

/* Appends and applies an event, even if the state stays the same, since a person decided it.
 * ERR_INVALID for a state that a person cannot set; ERR_NOT_FOUND for an id that is not of an
 * artifact; ERR_PRECONDITION for an artifact that has no such states. */
MUST_CHECK enum err artifact_set_state(struct ctx *ctx, struct store_txn *txn,
                                       const struct artifact_decision *decision, uint64_t *ret_seq);

#endif
