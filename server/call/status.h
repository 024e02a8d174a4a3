/*
 * status.h: how a failure is reported to the caller: the status code, one sentence, and
 * google.rpc.Status with the details that clients look for (google/rpc/error_details.proto):
 * BadRequest with every invalid field, RetryInfo if a retry makes sense, ErrorInfo with the fault's
 * reason or the error's name. Over gRPC the trailer grpc-retry-pushback-ms repeats the delay (gRFC
 * A6), or is -1 if a retry cannot succeed.
 */
#ifndef ERRATA_SERVER_CALL_STATUS_H
#define ERRATA_SERVER_CALL_STATUS_H

#include "server/call/call.h"
#include "store/base/fault.h"

/* Returns the status of `result`; its slices are in `arena`. `fault` may be NULL. */
struct status status_of(struct arena *arena, enum err result, const struct fault *fault);

#endif
