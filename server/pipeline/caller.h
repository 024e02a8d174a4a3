/*
 * caller.h: converts the caller and the times of a request to the values that the domain's rules
 * about actors and times expect (domain/events).
 */
#ifndef ERRATA_SERVER_PIPELINE_CALLER_H
#define ERRATA_SERVER_PIPELINE_CALLER_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/pipeline/service.h"

#include <google/protobuf/timestamp.pb-c.h>

/* Returns the caller of an authenticated method; borrowed from its principal. */
struct event_caller caller_of(const struct service *service);
/* Returns the organisation that a request names; the token's own if `org_id` is empty.
 * ERR_NOT_FOUND for another one if the token may not name others, or if there is no such
 * organisation. */
MUST_CHECK enum err caller_resolve_org(const struct service *service, struct store_txn *txn,
                                       const char *org_id, struct org_id *ret_org);
/* Returns microseconds since 1970, rounded down. */
int64_t timestamp_us(const Google__Protobuf__Timestamp *time);

/* Converts a time of a request; NULL: not given. */
struct event_time time_given(const Google__Protobuf__Timestamp *time);

/* Converts the range from `start_time` up to, but not including, `end_time` (NULL: not given) to
 * microseconds: INT64_MIN and INT64_MAX if not given. Returns false, with a fault, if it ends
 * before it starts. */
MUST_CHECK bool time_range_read(struct fault *fault, const Google__Protobuf__Timestamp *start_time,
                                const Google__Protobuf__Timestamp *end_time, int64_t *ret_start_us,
                                int64_t *ret_end_us);

#endif
