/*
 * caller.h: who calls, as the domain's rules about actors and times ask (domain/corrections/actor.h).
 */
#ifndef ERRATA_SERVER_PIPELINE_CALLER_H
#define ERRATA_SERVER_PIPELINE_CALLER_H

#include "server/domain/events/actor.h"
#include "server/pipeline/service.h"

/* Of a method that a token admitted; borrowed from its principal. */
struct event_caller caller_of(const struct service *service);

#endif
