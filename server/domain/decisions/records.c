/*
 * records.c: see records.h.
 */
#include "server/domain/decisions/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/decisions.views.h>

static bool fits(const struct evaluator_record *record)
{
    return record->evaluator_id.size > 0 && record->evaluations >= record->judged &&
           record->judged >= record->overridden;
}

enum err record_decode_evaluator(struct slice bytes, struct evaluator_record *ret_record)
{
    struct evaluator_row_view message;
    struct evaluator_record record;
    enum err err = evaluator_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct evaluator_record){
        .evaluator_id = message.evaluator_id,
        .evaluations = message.evaluations,
        .judged = message.judged,
        .overridden = message.overridden,
    };
    if (!fits(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_evaluator(struct arena *arena, const struct evaluator_record *record,
                                 struct slice *ret_bytes)
{
    struct evaluator_row_view message = {
        .evaluator_id = record->evaluator_id,
        .evaluations = record->evaluations,
        .judged = record->judged,
        .overridden = record->overridden,
    };

    if (UNEXPECTED(!fits(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &evaluator_row_view_type, &message, ret_bytes);
}
