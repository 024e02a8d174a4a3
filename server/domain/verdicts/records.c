/*
 * records.c: see records.h.
 */
#include "server/domain/verdicts/records.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/wire.h"
#include "store/record_row.h"

#include <errata/v1/verdict_submission.fields.h>
#include <record/verdicts.views.h>

bool learned_rule_record_fits(const struct learned_rule_record *record)
{
    return !bytes_are_zero(record->id.bytes, UUID_BYTES) && record->rule_type != 0 &&
           record->rule_type <= UINT8_MAX && record->pattern.size > 0 && record->action != 0 &&
           record->adjustment >= -VERDICT_UNIT && record->adjustment <= VERDICT_UNIT &&
           record->reinforcement_count <= record->count && record->accuracy <= VERDICT_UNIT;
}

/* Returns whether the bytes are text fields with one field number. */
static bool is_list(struct slice run, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(run);
    struct wire_field field;
    enum err err = wire_next(&reader, &field);

    while (err == OK && field.number == number && field.type == WIRE_BYTES) {
        err = wire_next(&reader, &field);
    }
    return err == ERR_NOT_FOUND;
}

bool verdict_record_fits(const struct verdict_record *record)
{
    return record->original_verdict != 0 && record->correct_verdict != 0 &&
           is_list(record->missed, VERDICT_SUBMISSION_MISSED_INDICATORS_FIELD);
}

enum err record_decode_learned_rule(struct slice bytes, struct learned_rule_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct learned_rule_row_view message;
    struct learned_rule_record record;
    struct slice source_id = {NULL, 0};
    enum err err = learned_rule_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct learned_rule_record){
        .rule_type = message.rule_type,
        .pattern = message.pattern,
        .action = message.action,
        .adjustment = message.adjustment,
        .count = message.count,
        .reinforcement_count = message.reinforcement_count,
        .accuracy = message.accuracy,
        .auto_learned = message.auto_learned,
        .created_at_us = message.created_at_us,
        .updated_at_us = message.updated_at_us,
        .imported_seq = message.imported_seq,
    };
    source_id = message.source_id;
    record_need(&check, source_id.size == 0 || source_id.size == UUID_BYTES);
    if (!check.failed && source_id.size > 0) {
        memcpy(record.source_id.bytes, source_id.data, UUID_BYTES);
        record_need(&check, !bytes_are_zero(source_id.data, UUID_BYTES));
    }
    memcpy(record.id.bytes, message.id, UUID_BYTES);
    record_need(&check, learned_rule_record_fits(&record) &&
                            record_decode_artifact_life(message.life, &record.life) == OK);
    if (!check.failed) {
        *ret_record = record;
    }
    return record_check_result(&check);
}

enum err record_encode_learned_rule(struct arena *arena, const struct learned_rule_record *record,
                                    struct slice *ret_bytes)
{
    struct learned_rule_row_view message = {
        .rule_type = record->rule_type,
        .pattern = record->pattern,
        .action = record->action,
        .adjustment = record->adjustment,
        .count = record->count,
        .reinforcement_count = record->reinforcement_count,
        .accuracy = record->accuracy,
        .auto_learned = record->auto_learned,
        .created_at_us = record->created_at_us,
        .updated_at_us = record->updated_at_us,
        .imported_seq = record->imported_seq,
    };
    enum err err = OK;

    if (UNEXPECTED(!learned_rule_record_fits(record))) {
        return ERR_INTERNAL;
    }
    memcpy(message.id, record->id.bytes, UUID_BYTES);
    if (!bytes_are_zero(record->source_id.bytes, UUID_BYTES)) {
        message.source_id = slice_of(record->source_id.bytes, UUID_BYTES);
    }
    err = record_encode_artifact_life(arena, &record->life, &message.life);
    return err != OK ? err : record_encode(arena, &learned_rule_row_view_type, &message, ret_bytes);
}

enum err record_decode_verdict(struct slice bytes, struct verdict_record *ret_record)
{
    struct verdict_row_view message;
    struct verdict_record record;
    enum err err = verdict_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct verdict_record){
        .original_verdict = message.original_verdict,
        .correct_verdict = message.correct_verdict,
        .missed = message.missed,
    };
    if (!verdict_record_fits(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_verdict(struct arena *arena, const struct verdict_record *record,
                               struct slice *ret_bytes)
{
    struct verdict_row_view message = {
        .original_verdict = record->original_verdict,
        .correct_verdict = record->correct_verdict,
        .missed = record->missed,
    };

    if (UNEXPECTED(!verdict_record_fits(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &verdict_row_view_type, &message, ret_bytes);
}
