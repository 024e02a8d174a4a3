/*
 * payload.h: the part of an event's payload that is for the server only: `internal` in the published message,
 * and the message NAMEInternal of proto/errata/payload in the log.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_PAYLOAD_H
#define ERRATA_SERVER_DOMAIN_EVENTS_PAYLOAD_H

#include "store/base/slice.h"

#include <errata/payload/payload.views.h>

/* The bytes of that part. Logs of store formats below 4 have its members in the payload itself, under the
 * same numbers; a part that has only default values takes no bytes, and reads the same from either. */
static inline struct slice payload_internal(struct slice internal, struct slice payload)
{
    return internal.size > 0 ? internal : payload;
}

#endif
