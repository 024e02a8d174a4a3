/*
 * records.c: see records.h.
 */
#include "server/domain/counters/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/counters.views.h>

enum err record_decode_counter(struct slice bytes, struct counter_record *ret_record)
{
    struct counter_row_view message;
    enum err err = counter_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    if (message.count == 0) {
        return ERR_CORRUPT;
    }
    ret_record->count = message.count;
    ret_record->name = message.name;
    return OK;
}

enum err record_encode_counter(struct arena *arena, const struct counter_record *record,
                               struct slice *ret_bytes)
{
    struct counter_row_view message = {.count = record->count, .name = record->name};

    if (UNEXPECTED(record->count == 0)) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &counter_row_view_type, &message, ret_bytes);
}
