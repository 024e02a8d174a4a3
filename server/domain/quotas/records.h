/*
 * records.h: rows of quotas as plain C, and their bytes: messages of proto/record/quotas.proto.
 * The rules of store/records.h apply: bytes that do not decode are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_QUOTAS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_QUOTAS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* QUOTA: limits, at least one of which is set. 0: no limit. */
struct quota_record {
    uint32_t requests_per_second;
    uint32_t request_burst; /* 0: the requests of one second */
    uint32_t concurrent_streams;
    uint32_t pdf_jobs;
    uint64_t stored_bytes;
};

/* Returns whether any limit is set. */
bool quota_record_is_set(const struct quota_record *record);

MUST_CHECK enum err record_decode_quota(struct slice bytes, struct quota_record *ret_record);

MUST_CHECK enum err record_encode_quota(struct arena *arena, const struct quota_record *record,
                                        struct slice *ret_bytes);

#endif
