/*
 * backtest.c: see backtest.h.
 */
#include "server/domain/backtest/backtest.h"

#include "server/domain/backtest/trial.h"
#include "server/domain/scoring/score.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/rules.h"
#include "store/scan.h"

#include <errata/v1/verdict_submission.views.h>
#include <math.h>
#include <string.h>

/* Submissions between two calls of is_cancelled. */
#define ROWS_BETWEEN_LOOKS 16

/* The rule in a step. */
struct stepping {
    struct backtest *backtest;
    struct rule_trial trial;
    struct arena scratch; /* emptied after each submission */
};

static void set_pattern(struct slice pattern, struct backtest_rule *rule)
{
    memcpy(rule->pattern, pattern.data, pattern.size);
    rule->pattern_bytes = pattern.size;
}

enum err backtest_set_candidate(struct ctx *ctx, enum learned_rule_type rule_type,
                                struct slice pattern, const double *adjustment,
                                struct backtest *backtest)
{
    const struct learner *learner = learner_of_type(rule_type);
    struct backtest_rule *rule = &backtest->rule;

    if (adjustment != NULL && *adjustment * (double)learner->adjustment < 0) {
        fault_add(ctx->fault, SLICE("candidate.confidence_adjustment"),
                  "%g; expected a number %s for this rule_type", *adjustment,
                  learner->adjustment < 0 ? "from -1 to 0" : "from 0 to 1");
    }
    if (pattern.size == 0 || pattern.size > BACKTEST_PATTERN_BYTES_MAX) {
        fault_add(ctx->fault, SLICE("candidate.pattern"), "%zu bytes; expected 1 to %d",
                  pattern.size, BACKTEST_PATTERN_BYTES_MAX);
    }
    if (fault_result(ctx->fault) != OK) {
        return ERR_INVALID;
    }
    set_pattern(pattern, rule);
    rule->rule_type = rule_type;
    rule->adjustment = adjustment != NULL ? (int64_t)llround(*adjustment * (double)VERDICT_UNIT)
                                          : learner->adjustment;
    return OK;
}

static enum err read_rule(struct ctx *ctx, struct store_txn *txn, struct backtest *backtest)
{
    struct learned_rule_row row;
    enum err err = learned_rule_find_id(txn, backtest->org, backtest->id, &row);

    if (err == ERR_NOT_FOUND) {
        return fault_say(
            ctx->fault, err,
            "rule_id: not found in this organisation; expected the id of a learned rule");
    }
    if (err == OK &&
        (!learned_rule_type_from_wire((int32_t)row.record.rule_type, &backtest->rule.rule_type) ||
         row.record.pattern.size > BACKTEST_PATTERN_BYTES_MAX)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        set_pattern(row.record.pattern, &backtest->rule);
        backtest->rule.adjustment = row.record.adjustment;
    }
    return err;
}

static enum err begin(struct ctx *ctx, struct store_txn *txn, struct backtest *backtest)
{
    struct log_head head;
    enum err err = log_read_head(txn, backtest->org, &head);

    if (err == OK && backtest->has_id) {
        err = read_rule(ctx, txn, backtest);
    }
    if (err == OK) {
        backtest->has_begun = true;
        backtest->last_seq = head.last_seq;
    }
    return err;
}

/* Returns the counts of a reviewer, or those of all others if the list is full. */
static struct backtest_counts *counts_of(struct backtest *backtest, struct slice reviewer)
{
    struct backtest_reviewer *added = NULL;

    for (size_t i = 0; i < backtest->reviewer_count; i++) {
        struct backtest_reviewer *known = &backtest->reviewers[i];

        if (slice_equal(slice_of(known->id, known->id_bytes), reviewer)) {
            return &known->counts;
        }
    }
    if (backtest->reviewer_count == BACKTEST_REVIEWERS_MAX ||
        reviewer.size > BACKTEST_REVIEWER_BYTES_MAX) {
        return &backtest->others;
    }
    added = &backtest->reviewers[backtest->reviewer_count++];
    if (reviewer.size > 0) {
        memcpy(added->id, reviewer.data, reviewer.size);
    }
    added->id_bytes = reviewer.size;
    return &added->counts;
}

static void count_hit(const struct verdict_submission_view *view,
                      const struct rule_trial_result *result, struct backtest_counts *counts)
{
    bool is_flip = result->before != result->after;

    counts->hits++;
    counts->agreements += result->agrees;
    counts->false_alarms += result->disagrees;
    counts->flips_right += is_flip && result->after == view->correct_verdict;
    counts->flips_wrong += is_flip && result->before == view->correct_verdict;
    counts->flips_other += is_flip && result->after != view->correct_verdict &&
                           result->before != view->correct_verdict;
}

static enum err examine(struct store_txn *txn, struct stepping *stepping, uint64_t seq)
{
    struct backtest *backtest = stepping->backtest;
    struct verdict_submission_view view;
    struct rule_trial_result result = {.fires = false};
    struct event event;
    enum err err = log_read(txn, backtest->org, seq, &event);

    if (err == OK) {
        err = view_read_parts(&verdict_submission_view_type, event.facts, event.content, &view);
    }
    if (err == OK) {
        struct tried_submission tried = {.view = &view, .scratch = &stepping->scratch};

        err = rule_trial_run(&stepping->trial, &tried, &backtest->thresholds, &result);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    backtest->submissions++;
    backtest->not_evaluable += result.is_unknown;
    backtest->suppressed += result.is_suppressed;
    if (result.fires) {
        count_hit(&view, &result, &backtest->total);
        count_hit(&view, &result, counts_of(backtest, view.actor_user_id));
    }
    return OK;
}

/* Examines the submission of the next row. ERR_NOT_FOUND after the last one. */
static enum err next(struct store_txn *txn, struct scan *scan, struct stepping *stepping)
{
    struct backtest *backtest = stepping->backtest;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = scan_next(scan, &key, &value);

    if (err == OK) {
        err = key_read_newest_first(key, &created_at_us, &seq);
    }
    if (err == OK && seq <= backtest->last_seq) {
        backtest->is_incomplete = backtest->submissions == backtest->submissions_max;
        err = backtest->is_incomplete ? ERR_NOT_FOUND : examine(txn, stepping, seq);
        arena_reset(&stepping->scratch);
    }
    if (err == OK) {
        backtest->position = key_verdict(backtest->org, created_at_us, seq);
    }
    return err;
}

static enum err examine_all(struct store_txn *txn, struct stepping *stepping,
                            bool (*is_cancelled)(const void *user), const void *user)
{
    struct backtest *backtest = stepping->backtest;
    const struct scan_range range = {
        .table = TABLE_VERDICT,
        .prefix = key_org(backtest->org),
        .after = key_slice(&backtest->position),
        .rows_max = BACKTEST_STEP_MAX,
    };
    struct scan scan = {.rows_max = 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = next(txn, &scan, stepping);
        if (err == OK && scan.row_count % ROWS_BETWEEN_LOOKS == 0 && is_cancelled(user)) {
            err = ERR_CANCELLED;
        }
    }
    if (err == ERR_NOT_FOUND) {
        err = OK;
        backtest->has_ended = !scan.is_cut || backtest->is_incomplete;
    }
    scan_deinit(&scan);
    return err;
}

enum err backtest_step(struct ctx *ctx, struct store_txn *txn, struct backtest *backtest,
                       bool (*is_cancelled)(const void *user), const void *user)
{
    struct stepping stepping = {.backtest = backtest};
    enum err err = backtest->has_begun ? OK : begin(ctx, txn, backtest);

    if (err != OK) {
        return err;
    }
    err = rule_trial_init(ctx->arena, backtest->rule.rule_type,
                          slice_of(backtest->rule.pattern, backtest->rule.pattern_bytes),
                          backtest->rule.adjustment, &stepping.trial);
    if (err == OK) {
        arena_init(&stepping.scratch, TRIAL_MEMORY_MAX);
        err = examine_all(txn, &stepping, is_cancelled, user);
        arena_deinit(&stepping.scratch);
    }
    return err;
}
