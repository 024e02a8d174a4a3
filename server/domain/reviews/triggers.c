/*
 * triggers.c: see triggers.h.
 */
#include "server/domain/reviews/triggers.h"

bool review_trigger_is_reached(uint32_t count, uint32_t threshold, uint32_t run_count)
{
    return count >= 1 && count * REVIEW_WINDOW_RUNS >= threshold * run_count;
}

/* Returns the smallest count that reaches a threshold. */
static uint32_t least_count(uint32_t threshold, uint32_t run_count)
{
    uint32_t count = 1;

    while (!review_trigger_is_reached(count, threshold, run_count)) {
        count++;
    }
    return count;
}

static void count_signals(const struct review_window *window, struct review_triggers *triggers)
{
    const uint32_t *counts = window->true_counts;

    triggers->counts[THRESHOLD_BAD_FORMAT] = counts[REVIEW_BAD_FORMAT];
    triggers->counts[THRESHOLD_WRONG_INFORMATION] = counts[REVIEW_WRONG_INFORMATION];
    triggers->counts[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS] =
        counts[REVIEW_WRONG_PHYSICAL_DIMENSIONS];
    triggers->counts[THRESHOLD_INFORMATION_PRESENT_LOW] = window->information_missing_count;
    triggers->counts[THRESHOLD_MISSING_SPEC] =
        triggers->spec_count > 0 ? triggers->specs[0].run_count : 0;
}

static void compare(struct review_triggers *triggers)
{
    for (size_t i = 0; i < THRESHOLD_COUNT; i++) {
        triggers->states[i] = review_trigger_is_reached(
            triggers->counts[i], triggers->thresholds.values[i], triggers->run_count);
    }
}

enum err review_triggers_read(struct arena *arena, struct store_txn *txn,
                              struct review_window_query *query,
                              struct review_triggers *ret_triggers)
{
    struct review_thresholds_record set;
    struct review_triggers triggers = {.run_count = 0};
    struct review_window window;
    enum err err =
        review_thresholds_read(txn, query->org, query->subcategory, query->as_of_seq, &set);

    query->runs_max = REVIEW_WINDOW_RUNS;
    if (err == OK) {
        err = review_window_read(arena, txn, query, &window);
    }
    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < THRESHOLD_COUNT; i++) {
        triggers.thresholds.values[i] = review_threshold_of(&set, (enum review_threshold)i);
    }
    triggers.run_count = window.run_count;
    triggers.low_confidence = window.run_count < REVIEW_WINDOW_RUNS;
    err = spec_set_select(
        &window.specs,
        least_count(triggers.thresholds.values[THRESHOLD_MISSING_SPEC], window.run_count),
        &triggers.specs, &triggers.spec_count);
    if (err == OK) {
        count_signals(&window, &triggers);
        compare(&triggers);
        *ret_triggers = triggers;
    }
    return err;
}

static void put_specs(const struct review_triggers *triggers, struct buffer *run)
{
    for (size_t i = 0; i < triggers->spec_count; i++) {
        const struct missing_spec_view view = {
            .name = triggers->specs[i].spelling,
            .count = triggers->specs[i].run_count,
        };

        missing_spec_view_put(&view, REVIEW_TRIGGERS_MISSING_SPECS_FIELD, run);
    }
}

enum err review_triggers_encode(struct arena *arena, const struct review_triggers *triggers,
                                struct slice *ret_message)
{
    const uint32_t *counts = triggers->counts;
    const bool *states = triggers->states;
    struct review_thresholds_view thresholds = review_thresholds_view_of(&triggers->thresholds);
    struct review_triggers_view view = {
        .run_count = triggers->run_count,
        .low_confidence = triggers->low_confidence,
        .bad_format = states[THRESHOLD_BAD_FORMAT],
        .bad_format_count = counts[THRESHOLD_BAD_FORMAT],
        .wrong_information = states[THRESHOLD_WRONG_INFORMATION],
        .wrong_information_count = counts[THRESHOLD_WRONG_INFORMATION],
        .wrong_physical_dimensions = states[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS],
        .wrong_physical_dimensions_count = counts[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS],
        .missing_spec = states[THRESHOLD_MISSING_SPEC],
        .information_present_low = states[THRESHOLD_INFORMATION_PRESENT_LOW],
        .information_present_low_count = counts[THRESHOLD_INFORMATION_PRESENT_LOW],
        .has_thresholds = true,
    };
    struct buffer run;

    buffer_init(&run, arena, 0);
    put_specs(triggers, &run);
    view.missing_specs.run = buffer_slice(&run);
    return buffer_ok(&run) &&
                   view_encode(&review_thresholds_view_type, &thresholds, arena,
                               &view.thresholds) &&
                   view_encode(&review_triggers_view_type, &view, arena, ret_message)
               ? OK
               : ERR_MEMORY;
}
