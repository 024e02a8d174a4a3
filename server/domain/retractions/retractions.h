/*
 * retractions.h: retracts events of users. A retraction is an event of its own; the capability of
 * the retracted event reverses its effect (<event_retract.h>). The retracted event is never
 * changed.
 */
#ifndef ERRATA_SERVER_DOMAIN_RETRACTIONS_RETRACTIONS_H
#define ERRATA_SERVER_DOMAIN_RETRACTIONS_RETRACTIONS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/retraction.h"

/* The same limit as in the contract. */
#define RETRACTION_REASON_BYTES_MAX 2000

/* The event to retract, and the caller. Borrowed for the duration of the call. */
struct retraction_request {
    struct org_id org;
    struct event_caller caller;
    struct uuid event_id;
    struct slice reason; /* not empty */
};

/* Decides, appends and applies. Returns the seq of the event that records the retraction: for an
 * event that was retracted before, that of the first retraction, and nothing is appended.
 * ERR_NOT_FOUND, ERR_DENIED if an OPERATOR retracts an event of another user, ERR_PRECONDITION for
 * an event that cannot be retracted. */
MUST_CHECK enum err retraction_store(struct ctx *ctx, struct store_txn *txn,
                                     const struct retraction_request *request, uint64_t *ret_seq);

#endif
