/*
 * measure_records.c: the rows of measures; see records.h.
 */
#include "server/domain/verdicts/records.h"
#include "store/record_row.h"

#include <record/verdicts.views.h>

enum err record_decode_rule_measure(struct slice bytes, struct rule_measure_record *ret_record)
{
    struct rule_measure_row_view message;
    enum err err = rule_measure_row_view_read(bytes, &message);

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
    const struct rule_measure_row_view message = {
        .agreed = record->agreed,
        .disagreed = record->disagreed,
        .undecided = record->undecided,
        .kept_agreed = record->kept_agreed,
        .kept_disagreed = record->kept_disagreed,
    };

    return record_encode(arena, &rule_measure_row_view_type, &message, ret_bytes);
}

static enum err take_side(struct slice bytes, struct rule_set_side *ret_side)
{
    struct rule_set_side_view side;
    enum err err = rule_set_side_view_read(bytes, &side);

    if (err != OK) {
        return err;
    }
    *ret_side = (struct rule_set_side){
        .covered = side.covered,
        .overlapping = side.overlapping,
        .conflicting = side.conflicting,
        .agreed = side.agreed,
        .disagreed = side.disagreed,
        .undecided = side.undecided,
        .found = side.found,
        .flips_right = side.flips_right,
        .flips_wrong = side.flips_wrong,
        .flips_undecided = side.flips_undecided,
    };
    return OK;
}

static enum err put_side(struct arena *arena, const struct rule_set_side *side,
                         struct slice *ret_bytes)
{
    const struct rule_set_side_view view = {
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

    return record_encode(arena, &rule_set_side_view_type, &view, ret_bytes);
}

enum err record_decode_rule_set_measure(struct slice bytes,
                                        struct rule_set_measure_record *ret_record)
{
    struct rule_set_measure_row_view message;
    struct rule_set_measure_record record;
    enum err err = rule_set_measure_row_view_read(bytes, &message);

    if (err == OK) {
        err = take_side(message.live, &record.live);
    }
    if (err == OK) {
        err = take_side(message.shadow, &record.shadow);
    }
    if (err != OK) {
        return err;
    }
    record.scores = message.scores;
    record.directed = message.directed;
    *ret_record = record;
    return OK;
}

enum err record_encode_rule_set_measure(struct arena *arena,
                                        const struct rule_set_measure_record *record,
                                        struct slice *ret_bytes)
{
    struct rule_set_measure_row_view message = {
        .scores = record->scores,
        .directed = record->directed,
        .has_live = true,
        .has_shadow = true,
    };
    enum err err = put_side(arena, &record->live, &message.live);

    if (err == OK) {
        err = put_side(arena, &record->shadow, &message.shadow);
    }
    return err != OK ? err
                     : record_encode(arena, &rule_set_measure_row_view_type, &message, ret_bytes);
}
