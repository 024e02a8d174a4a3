/*
 * records.c: see records.h.
 */
#include "server/domain/turns/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <errata/v1/turn.fields.h>
#include <record/turns.views.h>

static bool turn_fits(const struct turn_record *record)
{
    return record->seq != 0 && record->status >= TURN_STATUS_REJECTED &&
           record->status <= TURN_STATUS_NEUTRAL;
}

enum err record_decode_turn(struct slice bytes, struct turn_record *ret_record)
{
    struct turn_row_view message;
    struct turn_record record;
    enum err err = turn_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct turn_record){
        .seq = message.seq,
        .created_at_us = message.created_at_us,
        .status = message.status,
        .marked_seq = message.marked_seq,
        .set_seq = message.set_seq,
    };
    if (!turn_fits(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_turn(struct arena *arena, const struct turn_record *record,
                            struct slice *ret_bytes)
{
    struct turn_row_view message = {
        .seq = record->seq,
        .created_at_us = record->created_at_us,
        .status = record->status,
        .marked_seq = record->marked_seq,
        .set_seq = record->set_seq,
    };

    if (UNEXPECTED(!turn_fits(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &turn_row_view_type, &message, ret_bytes);
}
