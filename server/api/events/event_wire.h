/*
 * event_wire.h: encodes a stored event as errata.v1.Event. The payload's bytes are copied unparsed,
 * except a token's hash, which is never sent.
 */
#ifndef ERRATA_SERVER_API_EVENT_WIRE_H
#define ERRATA_SERVER_API_EVENT_WIRE_H

#include "store/base/buffer.h"
#include "store/base/ctx.h"
#include "store/log.h"

/* Appends the event, with its retraction if it was retracted, as field `field` of the message around it. ERR_CORRUPT for stored facts that do not
 * decode. */
MUST_CHECK enum err event_wire_put(struct arena *arena, struct store_txn *txn, struct buffer *body,
                                   uint32_t field, const struct event *event);
/* Appends an Event that has only its payload, as in an export. ERR_CORRUPT likewise. */
MUST_CHECK enum err event_wire_put_payload(struct arena *arena, struct buffer *body, uint32_t field,
                                           const struct event *event);
/* Returns the subjects as the elements of ExportedEvent. ERR_CORRUPT for unknown kinds. */
MUST_CHECK enum err event_wire_read_subjects(struct arena *arena, const struct event *event,
                                             struct slice *ret_run);
/* Checks the payload of an event that another server has stored, before it is applied. ERR_INVALID for one that is not a
 * message of its kind; without a fault. */
MUST_CHECK enum err event_wire_check(const struct ctx *ctx, const struct event *event);

#endif
