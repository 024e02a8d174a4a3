/*
 * rule_measures.c: see rule_measures.h.
 */
#include "server/domain/learning/rule_measures.h"

#include "server/domain/analytics/proportions.h"

bool measured_rate_encode(struct arena *arena, uint64_t success_count, uint64_t n,
                          struct slice *ret_message)
{
    const struct proportion proportion = {success_count, n};
    struct measured_rate_view view = {.n = n};
    struct proportion_interval interval = {.low = 0};

    view.has_estimate = proportion_interval_of(&proportion, &interval);
    view.has_low = view.has_estimate;
    view.has_high = view.has_estimate;
    view.estimate = interval.estimate;
    view.low = interval.low;
    view.high = interval.high;
    return view_encode(&measured_rate_view_type, &view, arena, ret_message);
}

enum err rule_measures_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                           const struct learned_rule_row *row, uint32_t field, struct buffer *run)
{
    struct rule_measures measures;
    enum err err = rule_measures_read(txn, org, row, &measures);

    for (size_t i = 0; err == OK && i < measures.count; i++) {
        const struct rule_measure *measure = &measures.items[i];
        struct rule_measure_view view = {
            .version = measure->version,
            .agreed_count = measure->agreed,
            .disagreed_count = measure->disagreed,
            .undecided_count = measure->undecided,
            .missed_count = measure->missed,
            .has_precision = true,
            .has_recall = true,
        };

        if (!measured_rate_encode(arena, measure->agreed, measure->agreed + measure->disagreed,
                                  &view.precision) ||
            !measured_rate_encode(arena, measure->agreed, measure->agreed + measure->missed,
                                  &view.recall)) {
            return ERR_MEMORY;
        }
        rule_measure_view_put(&view, field, run);
    }
    return err;
}

bool rule_set_side_encode(struct arena *arena, const struct rule_set_measure_record *record,
                          const struct rule_set_side *side, struct slice *ret_message)
{
    struct rule_set_measure_view view = {
        .covered_count = side->covered,
        .overlapping_count = side->overlapping,
        .conflicting_count = side->conflicting,
        .agreed_count = side->agreed,
        .disagreed_count = side->disagreed,
        .undecided_count = side->undecided,
        .found_count = side->found,
        .right_flip_count = side->flips_right,
        .wrong_flip_count = side->flips_wrong,
        .undecided_flip_count = side->flips_undecided,
        .has_coverage = true,
        .has_overlap = true,
        .has_conflict = true,
        .has_precision = true,
        .has_recall = true,
    };

    return measured_rate_encode(arena, side->covered, record->scores, &view.coverage) &&
           measured_rate_encode(arena, side->overlapping, record->scores, &view.overlap) &&
           measured_rate_encode(arena, side->conflicting, record->scores, &view.conflict) &&
           measured_rate_encode(arena, side->agreed, side->agreed + side->disagreed,
                                &view.precision) &&
           measured_rate_encode(arena, side->found, record->directed, &view.recall) &&
           view_encode(&rule_set_measure_view_type, &view, arena, ret_message);
}
