/*
 * records.c: see records.h.
 */
#include "server/domain/quotas/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/quotas.views.h>

bool quota_record_is_set(const struct quota_record *record)
{
    return record->requests_per_second != 0 || record->request_burst != 0 ||
           record->concurrent_streams != 0 || record->pdf_jobs != 0 || record->stored_bytes != 0;
}

enum err record_decode_quota(struct slice bytes, struct quota_record *ret_record)
{
    struct quota_record record;
    struct quota_row_view message;
    enum err err = quota_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct quota_record){
        .requests_per_second = message.requests_per_second,
        .request_burst = message.request_burst,
        .concurrent_streams = message.concurrent_streams,
        .pdf_jobs = message.pdf_jobs,
        .stored_bytes = message.stored_bytes,
    };
    if (!quota_record_is_set(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_quota(struct arena *arena, const struct quota_record *record,
                             struct slice *ret_bytes)
{
    struct quota_row_view message = {
        .requests_per_second = record->requests_per_second,
        .request_burst = record->request_burst,
        .concurrent_streams = record->concurrent_streams,
        .stored_bytes = record->stored_bytes,
        .pdf_jobs = record->pdf_jobs,
    };

    if (UNEXPECTED(!quota_record_is_set(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &quota_row_view_type, &message, ret_bytes);
}
