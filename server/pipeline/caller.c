/*
 * caller.c: see caller.h.
 */
#include "server/pipeline/caller.h"

struct event_caller caller_of(const struct service *service)
{
    const struct principal *principal = service->principal;

    return (struct event_caller){
        .role = principal->role,
        .user_id = principal->user_id,
        .key_id = principal->key_id,
        .backfill_only = (service->method->backfill_roles & (1u << principal->role)) != 0,
    };
}

struct event_time time_given(const Google__Protobuf__Timestamp *time)
{
    struct event_time given = {.is_given = time != NULL};

    if (time != NULL) {
        given.created_at_us = time->seconds * 1000000 + time->nanos / 1000;
    }
    return given;
}
