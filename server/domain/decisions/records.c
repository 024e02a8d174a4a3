/*
 * records.c: see records.h.
 */
#include "server/domain/decisions/records.h"

#include "store/base/assert.h"
#include "store/record_pb.h"

#include <record/decisions.pb.h>

static bool fits(const struct evaluator_record *record)
{
    return record->evaluator_id.size > 0 && record->evaluations >= record->judged &&
           record->judged >= record->overridden;
}

enum err record_decode_evaluator(struct slice bytes, struct evaluator_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_EvaluatorRow message;
    struct evaluator_record record;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_EvaluatorRow_msg, &message);
    if (err != OK) {
        return err;
    }
    record = (struct evaluator_record){
        .evaluator_id = record_take(&check, message.evaluator_id),
        .evaluations = message.evaluations,
        .judged = message.judged,
        .overridden = message.overridden,
    };
    record_need(&check, !check.failed && fits(&record));
    if (!check.failed) {
        *ret_record = record;
    }
    return record_check_result(&check);
}

enum err record_encode_evaluator(struct arena *arena, const struct evaluator_record *record,
                                 struct slice *ret_bytes)
{
    errata_record_EvaluatorRow message = {
        .evaluator_id = record->evaluator_id,
        .evaluations = record->evaluations,
        .judged = record->judged,
        .overridden = record->overridden,
    };

    if (UNEXPECTED(!fits(record))) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_EvaluatorRow_msg, &message, ret_bytes);
}
