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

int64_t timestamp_us(const Google__Protobuf__Timestamp *time)
{
    return time->seconds * 1000000 + time->nanos / 1000;
}

enum err as_of_read(struct store_txn *txn, struct org_id org, const uint64_t *seq,
                    const Google__Protobuf__Timestamp *time, struct as_of *ret_as_of)
{
    *ret_as_of = (struct as_of){.is_given = seq != NULL || time != NULL, .seq = UINT64_MAX};
    if (seq != NULL) {
        ret_as_of->seq = *seq;
    }
    return time == NULL ? OK : log_seq_at(txn, org, timestamp_us(time), &ret_as_of->seq);
}

struct event_time time_given(const Google__Protobuf__Timestamp *time)
{
    struct event_time given = {.is_given = time != NULL};

    if (time != NULL) {
        given.created_at_us = timestamp_us(time);
    }
    return given;
}
