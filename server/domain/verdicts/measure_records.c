/*
 * measure_records.c: the rows of measures; see records.h.
 */
#include "server/domain/verdicts/records.h"
#include "store/record_pb.h"

#include <record/verdicts.pb.h>

enum err record_decode_rule_measure(struct slice bytes, struct rule_measure_record *ret_record)
{
    errata_record_RuleMeasureRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_RuleMeasureRow_msg, &message);
    if (err == OK) {
        *ret_record = (struct rule_measure_record){
            .agreed = message.agreed,
            .disagreed = message.disagreed,
            .undecided = message.undecided,
            .kept_agreed = message.kept_agreed,
            .kept_disagreed = message.kept_disagreed,
        };
    }
    return err;
}

enum err record_encode_rule_measure(struct arena *arena, const struct rule_measure_record *record,
                                    struct slice *ret_bytes)
{
    const errata_record_RuleMeasureRow message = {
        .agreed = record->agreed,
        .disagreed = record->disagreed,
        .undecided = record->undecided,
        .kept_agreed = record->kept_agreed,
        .kept_disagreed = record->kept_disagreed,
    };

    return record_pb_encode(arena, &errata_record_RuleMeasureRow_msg, &message, ret_bytes);
}

static struct rule_set_side take_side(const errata_record_RuleSetSide *side)
{
    return (struct rule_set_side){
        .covered = side->covered,
        .overlapping = side->overlapping,
        .conflicting = side->conflicting,
        .agreed = side->agreed,
        .disagreed = side->disagreed,
        .undecided = side->undecided,
        .found = side->found,
        .flips_right = side->flips_right,
        .flips_wrong = side->flips_wrong,
        .flips_undecided = side->flips_undecided,
    };
}

static errata_record_RuleSetSide put_side(const struct rule_set_side *side)
{
    return (errata_record_RuleSetSide){
        .covered = side->covered,
        .overlapping = side->overlapping,
        .conflicting = side->conflicting,
        .agreed = side->agreed,
        .disagreed = side->disagreed,
        .undecided = side->undecided,
        .found = side->found,
        .flips_right = side->flips_right,
        .flips_wrong = side->flips_wrong,
        .flips_undecided = side->flips_undecided,
    };
}

enum err record_decode_rule_set_measure(struct slice bytes,
                                        struct rule_set_measure_record *ret_record)
{
    errata_record_RuleSetMeasureRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_RuleSetMeasureRow_msg, &message);
    if (err == OK) {
        *ret_record = (struct rule_set_measure_record){
            .scores = message.scores,
            .directed = message.directed,
            .live = take_side(&message.live),
            .shadow = take_side(&message.shadow),
        };
    }
    return err;
}

enum err record_encode_rule_set_measure(struct arena *arena,
                                        const struct rule_set_measure_record *record,
                                        struct slice *ret_bytes)
{
    const errata_record_RuleSetMeasureRow message = {
        .scores = record->scores,
        .directed = record->directed,
        .has_live = true,
        .live = put_side(&record->live),
        .has_shadow = true,
        .shadow = put_side(&record->shadow),
    };

    return record_pb_encode(arena, &errata_record_RuleSetMeasureRow_msg, &message, ret_bytes);
}
