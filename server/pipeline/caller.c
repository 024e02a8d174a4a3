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
