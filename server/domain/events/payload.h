/*
 * payload.h: the part of an event's payload that only the server uses: `internal` in the published
 * message, and the message NAMEInternal of proto/errata/payload in the log.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_PAYLOAD_H
#define ERRATA_SERVER_DOMAIN_EVENTS_PAYLOAD_H

#include "store/base/slice.h"

#include <errata/payload/payload.views.h>

/* Returns the bytes of that part. In logs of store formats below 4 its members are in the payload
 * itself, with the same field numbers. A part with only default values takes no bytes, and is read
 * in the same way from both. */
static inline struct slice payload_internal(struct slice internal, struct slice payload)
{
    return internal.size > 0 ? internal : payload;
}

#endif
