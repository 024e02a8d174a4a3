/*
 * records.c: see records.h.
 */
#include "server/domain/counters/records.h"

#include "store/base/assert.h"
#include "store/record_pb.h"

#include <record/counters.pb.h>

enum err record_decode_counter(struct slice bytes, struct counter_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_CounterRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_CounterRow_msg, &message);
    if (err != OK) {
        return err;
    }
    message.name = record_take(&check, message.name);
    record_need(&check, message.count != 0);
    if (!check.failed) {
        ret_record->count = message.count;
        ret_record->name = message.name;
    }
    return record_check_result(&check);
}

enum err record_encode_counter(struct arena *arena, const struct counter_record *record,
                               struct slice *ret_bytes)
{
    errata_record_CounterRow message = {.count = record->count, .name = record->name};

    if (UNEXPECTED(record->count == 0)) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_CounterRow_msg, &message, ret_bytes);
}
