/*
 * event_wire.h: encodes a stored event as errata.v1.Event. The payload's bytes are copied unparsed,
 * except a token's hash, which is never sent.
 */
#ifndef ERRATA_SERVER_API_EVENT_WIRE_H
#define ERRATA_SERVER_API_EVENT_WIRE_H

#include "store/base/buffer.h"
#include "store/log.h"

/* Appends the event, with its retraction if it was retracted, as field `field` of the message around it. ERR_CORRUPT for stored facts that do not
 * decode. */
MUST_CHECK enum err event_wire_put(struct arena *arena, struct store_txn *txn, struct buffer *body,
                                   uint32_t field, const struct event *event);

#endif
