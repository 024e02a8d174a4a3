/*
 * caller.h: who calls and which times the request gives, as the domain's rules about actors and times ask
 * (domain/events).
 */
#ifndef ERRATA_SERVER_PIPELINE_CALLER_H
#define ERRATA_SERVER_PIPELINE_CALLER_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/pipeline/service.h"

#include <google/protobuf/timestamp.pb-c.h>

/* Of a method that a token admitted; borrowed from its principal. */
struct event_caller caller_of(const struct service *service);
/* Microseconds since 1970; what is less than a microsecond is cut off. */
int64_t timestamp_us(const Google__Protobuf__Timestamp *time);

/* The `as_of` that a request gives by a seq, by a time, or not at all. */
struct as_of {
    bool is_given;
    uint64_t seq; /* the last event that the answer can know of; UINT64_MAX: not given */
};

/* `seq` and `time` are the members of the request's oneof; NULL: not that one. */
MUST_CHECK enum err as_of_read(struct store_txn *txn, struct org_id org, const uint64_t *seq,
                               const Google__Protobuf__Timestamp *time, struct as_of *ret_as_of);

/* A time that a request gives, or not (NULL). */
struct event_time time_given(const Google__Protobuf__Timestamp *time);

#endif
