/*
 * status_details.h: the bytes of google.rpc.Status (google/rpc/status.proto) that accompany a
 * failed call's code and message: ErrorInfo with the error's reason, RetryInfo if a retry makes
 * sense, and further details of the caller. Used for the transport's refusals and the services'
 * failures alike.
 */
#ifndef ERRATA_SERVER_CALL_STATUS_DETAILS_H
#define ERRATA_SERVER_CALL_STATUS_DETAILS_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Begins the details of `err` in an empty buffer of `arena`; an empty `reason` is replaced by the
 * error's name, and RetryInfo is left out if `retry_ms` is not above 0. buffer_ok reports whether there was memory. */
void status_details_begin(struct arena *arena, enum err err, int32_t retry_ms, struct slice reason,
                          struct slice message, struct buffer *details);
/* Adds a detail: an Any of this type with the message's bytes. */
void status_details_add(struct slice type_url, struct slice message, struct buffer *details);

#endif
