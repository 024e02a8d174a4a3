/*
 * status_details.h: the bytes of google.rpc.Status (google/rpc/status.proto) that go beside a
 * failed call's code and message: ErrorInfo with the error's reason, RetryInfo where a retry makes
 * sense, and what else the caller adds. The transport's own refusals and the services' failures look
 * the same by it.
 */
#ifndef ERRATA_SERVER_CALL_STATUS_DETAILS_H
#define ERRATA_SERVER_CALL_STATUS_DETAILS_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Begins the details of `err` in an empty buffer of `arena`; an empty `reason` is the error's own
 * name. Whether it fitted says buffer_ok. */
void status_details_begin(struct arena *arena, enum err err, struct slice reason,
                          struct slice message, struct buffer *details);
/* Adds one more: an Any of the type with the message's bytes. A message that failed is left out. */
void status_details_add(struct arena *arena, struct slice type_url, const struct buffer *message,
                        struct buffer *details);

#endif
