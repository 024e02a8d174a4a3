/*
 * caller.h: who calls and which time the request gives, as the domain's rules about actors and times ask
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
/* A time that a request gives, or not (NULL). */
struct event_time time_given(const Google__Protobuf__Timestamp *time);

#endif
