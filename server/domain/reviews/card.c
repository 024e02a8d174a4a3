/*
 * card.c: see card.h. The rows of the newest reviews give the runs of the subcategory in the order of windows.
 */
#include "server/domain/reviews/card.h"

/* The signals of a card, in their order. */
static const enum review_signal card_signals[] = {
    REVIEW_SIGNAL_INFORMATION_PRESENT_LOW, REVIEW_SIGNAL_MISSING_SPEC, REVIEW_SIGNAL_BAD_FORMAT,
    REVIEW_SIGNAL_WRONG_INFORMATION, REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS};

#define CARD_SIGNALS (sizeof(card_signals) / sizeof(card_signals[0]))

static uint8_t bit_of(enum review_signal signal)
{
    return (uint8_t)(1u << signal);
}

_Static_assert(REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS < 8, "a byte has a bit for each signal");

static uint8_t signals_of(const struct review_record *record)
{
    const enum review_answer *flags = record->flags;
    unsigned signals = 0;

    signals |= flags[REVIEW_INFORMATION_PRESENT] == REVIEW_FALSE
                   ? bit_of(REVIEW_SIGNAL_INFORMATION_PRESENT_LOW)
                   : 0;
    signals |= record->missing_spec.size > 0 ? bit_of(REVIEW_SIGNAL_MISSING_SPEC) : 0;
    signals |= flags[REVIEW_BAD_FORMAT] == REVIEW_TRUE ? bit_of(REVIEW_SIGNAL_BAD_FORMAT) : 0;
    signals |= flags[REVIEW_WRONG_INFORMATION] == REVIEW_TRUE
                   ? bit_of(REVIEW_SIGNAL_WRONG_INFORMATION)
                   : 0;
    signals |= flags[REVIEW_WRONG_PHYSICAL_DIMENSIONS] == REVIEW_TRUE
                   ? bit_of(REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS)
                   : 0;
    return (uint8_t)signals;
}

/* --- reading --- */

static enum err read_run(struct store_txn *txn, struct org_id org,
                         const struct review_run_hash *hash, struct card_run *run,
                         uint32_t *review_count)
{
    struct review_history history = {.as_of_seq = 0};
    struct review_entry entry;
    enum err err = review_history_init(&history, txn, org, hash, REVIEWS_NOW);

    while (err == OK) {
        err = review_history_next(&history, &entry);
        if (err == OK) {
            if (run->decision == 0) {
                run->decision = (uint8_t)entry.record.decision;
                run->newest_at_us = entry.created_at_us;
            }
            run->signals |= signals_of(&entry.record);
            run->is_first_pass = entry.record.decision == REVIEW_DECISION_REVIEWED;
            (*review_count)++;
        }
    }
    review_history_deinit(&history);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err read_row(struct store_txn *txn, const struct review_window_query *query,
                         struct slice value, struct card_run *run, struct review_card *card)
{
    struct review_run_hash hash;

    if (value.size != REVIEW_NEWEST_BYTES) {
        return ERR_CORRUPT;
    }
    if (query->is_cancelled(query->user)) {
        return ERR_CANCELLED;
    }
    if (card->run_count == CARD_RUNS_MAX) {
        card->is_incomplete = true;
        return ERR_NOT_FOUND;
    }
    memcpy(hash.bytes, value.data, sizeof(hash.bytes));
    card->run_count++;
    return read_run(txn, query->org, &hash, run, &card->review_count);
}

enum err review_card_read(struct arena *arena, struct store_txn *txn,
                          const struct review_window_query *query, struct review_card *ret_card)
{
    struct card_run *runs = arena_calloc(arena, CARD_RUNS_MAX + 1, sizeof(*runs));
    struct review_card card = {.subcategory = query->subcategory, .runs = runs};
    struct key prefix = key_review_subcategory_prefix(query->org, query->subcategory);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = runs != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = store_cursor_init(&cursor, txn, TABLE_REVIEW_NEWEST, key_slice(&prefix),
                                slice_of(NULL, 0), STORE_ASCENDING);
    }
    while (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK) {
            err = read_row(txn, query, value, &runs[card.run_count], &card);
        }
    }
    store_cursor_deinit(&cursor);
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_card = card;
    return OK;
}

/* --- writing --- */

static double percent_of(uint32_t count, size_t total)
{
    return total == 0 ? 0 : 100.0 * count / (double)total;
}

static bool trigger_of(const struct review_triggers *triggers, enum review_signal signal)
{
    switch (signal) {
    case REVIEW_SIGNAL_INFORMATION_PRESENT_LOW:
        return triggers->states[THRESHOLD_INFORMATION_PRESENT_LOW];
    case REVIEW_SIGNAL_MISSING_SPEC:
        return triggers->states[THRESHOLD_MISSING_SPEC];
    case REVIEW_SIGNAL_BAD_FORMAT:
        return triggers->states[THRESHOLD_BAD_FORMAT];
    case REVIEW_SIGNAL_WRONG_INFORMATION:
        return triggers->states[THRESHOLD_WRONG_INFORMATION];
    case REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS:
        return triggers->states[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS];
    case REVIEW_SIGNAL_UNSPECIFIED:
    case REVIEW_SIGNAL_INFORMATION_PRESENT:
    case REVIEW_SIGNAL_NOTES:
    case REVIEW_SIGNAL_EXAMPLE_ITEM:
        break;
    }
    return false;
}

static void put_shares(const struct review_card *card, const struct review_triggers *triggers,
                       struct buffer *run)
{
    size_t recent = card->run_count < REVIEW_WINDOW_RUNS ? card->run_count : REVIEW_WINDOW_RUNS;

    for (size_t i = 0; i < CARD_SIGNALS; i++) {
        struct signal_share_view view = {
            .signal = card_signals[i],
            .trigger = trigger_of(triggers, card_signals[i]),
            .has_recent_percent = card->run_count > 0,
            .has_percent = card->run_count > 0,
        };

        for (size_t j = 0; j < card->run_count; j++) {
            bool has = (card->runs[j].signals & bit_of(card_signals[i])) != 0;

            view.count += has;
            view.recent_count += has && j < recent;
        }
        view.recent_percent = percent_of(view.recent_count, recent);
        view.percent = percent_of(view.count, card->run_count);
        signal_share_view_put(&view, AGENT_CARD_SIGNALS_FIELD, run);
    }
}

/* Returns the signals of the runs reviewed before the one at `index`. */
static uint8_t signals_before(const struct review_card *card, size_t index)
{
    uint8_t signals = 0;

    for (size_t i = index + 1; i < card->run_count && i <= index + REVIEW_WINDOW_RUNS; i++) {
        signals |= card->runs[i].signals;
    }
    return signals;
}

static void finish(struct signal_recurrence_view *view)
{
    view->has_recurrence_percent = view->warned_count > 0;
    view->recurrence_percent = percent_of(view->recurring_count, view->warned_count);
}

/* Builds the recurrences of the runs from `newest` to before `end`. */
static enum err put_recurrences(struct arena *arena, const struct review_card *card, size_t newest,
                                size_t end, struct agent_card_period_view *period)
{
    struct signal_recurrence_view total = {.signal = REVIEW_SIGNAL_UNSPECIFIED};
    struct buffer run;

    buffer_init(&run, arena, 0);
    for (size_t i = 0; i < CARD_SIGNALS; i++) {
        struct signal_recurrence_view view = {.signal = card_signals[i]};
        uint8_t bit = bit_of(card_signals[i]);

        for (size_t j = newest; j < end; j++) {
            bool is_warned = (signals_before(card, j) & bit) != 0;

            view.warned_count += is_warned;
            view.recurring_count += is_warned && (card->runs[j].signals & bit) != 0;
        }
        total.warned_count += view.warned_count;
        total.recurring_count += view.recurring_count;
        finish(&view);
        signal_recurrence_view_put(&view, AGENT_CARD_PERIOD_RECURRENCES_FIELD, &run);
    }
    finish(&total);
    period->recurrences.run = buffer_slice(&run);
    period->has_total = true;
    return buffer_ok(&run) &&
                   view_encode(&signal_recurrence_view_type, &total, arena, &period->total)
               ? OK
               : ERR_MEMORY;
}

static enum err put_period(struct arena *arena, const struct review_card *card, size_t newest,
                           size_t end, struct buffer *run)
{
    struct agent_card_period_view view = {
        .first_reviewed_at_us = card->runs[end - 1].newest_at_us,
        .has_first_reviewed_at = true,
        .last_reviewed_at_us = card->runs[newest].newest_at_us,
        .has_last_reviewed_at = true,
        .run_count = (uint32_t)(end - newest),
    };
    enum err err = put_recurrences(arena, card, newest, end, &view);

    for (size_t i = newest; i < end; i++) {
        view.first_pass_count += card->runs[i].is_first_pass;
    }
    view.first_pass_percent = percent_of(view.first_pass_count, view.run_count);
    agent_card_period_view_put(&view, AGENT_CARD_PERIODS_FIELD, run);
    return err;
}

/* Appends the newest periods, oldest first. Periods are counted from the oldest run on. */
static enum err put_periods(struct arena *arena, const struct review_card *card, struct buffer *run)
{
    size_t count = (card->run_count + REVIEW_WINDOW_RUNS - 1) / REVIEW_WINDOW_RUNS;
    size_t first = count > CARD_PERIODS_MAX ? count - CARD_PERIODS_MAX : 0;
    enum err err = OK;

    for (size_t i = first; i < count && err == OK; i++) {
        size_t end = card->run_count - i * REVIEW_WINDOW_RUNS;

        err = put_period(arena, card, end > REVIEW_WINDOW_RUNS ? end - REVIEW_WINDOW_RUNS : 0, end,
                         run);
    }
    return err;
}

static void count_runs(const struct review_card *card, struct agent_card_view *view)
{
    for (size_t i = 0; i < card->run_count; i++) {
        uint8_t decision = card->runs[i].decision;

        view->reviewed_count += decision == REVIEW_DECISION_REVIEWED;
        view->rejected_count += decision == REVIEW_DECISION_REJECTED;
        view->changes_requested_count += decision == REVIEW_DECISION_CHANGES_REQUESTED;
        view->first_pass_count += card->runs[i].is_first_pass;
    }
    view->has_first_pass_percent = card->run_count > 0;
    view->first_pass_percent = percent_of(view->first_pass_count, card->run_count);
}

enum err review_card_view(struct arena *arena, const struct review_card *card,
                          const struct review_triggers *triggers, struct agent_card_view *ret_view)
{
    struct agent_card_view view = {
        .subcategory = card->subcategory,
        .run_count = (uint32_t)card->run_count,
        .review_count = card->review_count,
        .has_triggers = true,
        .incomplete = card->is_incomplete,
    };
    struct buffer signals;
    struct buffer periods;
    enum err err = review_triggers_encode(arena, triggers, &view.triggers);

    buffer_init(&signals, arena, 0);
    buffer_init(&periods, arena, 0);
    count_runs(card, &view);
    put_shares(card, triggers, &signals);
    if (err == OK) {
        err = put_periods(arena, card, &periods);
    }
    view.signals.run = buffer_slice(&signals);
    view.periods.run = buffer_slice(&periods);
    if (err == OK && !(buffer_ok(&signals) && buffer_ok(&periods))) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        *ret_view = view;
    }
    return err;
}
