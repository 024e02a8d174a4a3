/*
 * caller.c: see caller.h.
 */
#include "server/pipeline/caller.h"

#include "server/auth/auth.h"

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

enum err caller_resolve_org(const struct service *service, struct store_txn *txn,
                            const char *org_id, struct org_id *ret_org)
{
    return auth_resolve_org(service->ctx, txn, service->principal->org, service->principal->server,
                            slice_text(org_id), ret_org);
}

int64_t timestamp_us(const Google__Protobuf__Timestamp *time)
{
    return time->seconds * 1000000 + time->nanos / 1000;
}

struct event_time time_given(const Google__Protobuf__Timestamp *time)
{
    struct event_time given = {.is_given = time != NULL};

    if (time != NULL) {
        given.created_at_us = timestamp_us(time);
    }
    return given;
}

/* Rounds up to a whole microsecond, the resolution of events' times. */
static int64_t microseconds_from(const Google__Protobuf__Timestamp *time)
{
    return time->seconds * 1000000 + (time->nanos + 999) / 1000;
}

bool time_range_read(struct fault *fault, const Google__Protobuf__Timestamp *start_time,
                     const Google__Protobuf__Timestamp *end_time, int64_t *ret_start_us,
                     int64_t *ret_end_us)
{
    *ret_start_us = start_time != NULL ? microseconds_from(start_time) : INT64_MIN;
    *ret_end_us = end_time != NULL ? microseconds_from(end_time) : INT64_MAX;
    if (*ret_start_us > *ret_end_us) {
        fault_add(fault, SLICE("start_time"), "after end_time; expected start_time <= end_time");
        return false;
    }
    return true;
}
