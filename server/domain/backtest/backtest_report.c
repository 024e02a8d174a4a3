/*
 * backtest_report.c: the report of a backtest as its message.
 */
#include "server/domain/backtest/backtest.h"

#include <errata/v1/learning_service.views.h>
#include <stdlib.h>

static uint64_t flips_of(const struct backtest_counts *counts)
{
    return counts->flips_right + counts->flips_wrong + counts->flips_other;
}

static bool encode_counts(struct arena *arena, const struct backtest_counts *counts,
                          struct slice *ret_message)
{
    const struct backtest_counts_view view = {
        .hit_count = counts->hits,
        .agreement_count = counts->agreements,
        .false_alarm_count = counts->false_alarms,
        .right_flip_count = counts->flips_right,
        .wrong_flip_count = counts->flips_wrong,
        .other_flip_count = counts->flips_other,
    };

    return view_encode(&backtest_counts_view_type, &view, arena, ret_message);
}

/* Orders by hits, then by id. */
static int compare_reviewers(const void *a, const void *b)
{
    const struct backtest_reviewer *left = *(const struct backtest_reviewer *const *)a;
    const struct backtest_reviewer *right = *(const struct backtest_reviewer *const *)b;

    if (left->counts.hits != right->counts.hits) {
        return left->counts.hits > right->counts.hits ? -1 : 1;
    }
    return slice_compare(slice_of(left->id, left->id_bytes), slice_of(right->id, right->id_bytes));
}

static enum err put_reviewers(struct arena *arena, const struct backtest *backtest,
                              struct buffer *run)
{
    const struct backtest_reviewer *sorted[BACKTEST_REVIEWERS_MAX] = {NULL};

    for (size_t i = 0; i < backtest->reviewer_count; i++) {
        sorted[i] = &backtest->reviewers[i];
    }
    qsort(sorted, backtest->reviewer_count, sizeof(const struct backtest_reviewer *),
          compare_reviewers);
    for (size_t i = 0; i < backtest->reviewer_count; i++) {
        struct backtest_reviewer_view view = {
            .actor_user_id = slice_of(sorted[i]->id, sorted[i]->id_bytes),
            .has_actor_user_id = sorted[i]->id_bytes > 0,
            .has_counts = true,
        };

        if (!encode_counts(arena, &sorted[i]->counts, &view.counts)) {
            return ERR_MEMORY;
        }
        backtest_reviewer_view_put(&view, BACKTEST_REPORT_REVIEWERS_FIELD, run);
    }
    return OK;
}

/* Explains why a rule that fired changes no verdict: more verdicts would not make it stronger. */
static struct slice note_of(struct arena *arena, const struct backtest *backtest)
{
    if (flips_of(&backtest->total) > 0) {
        return slice_of(NULL, 0);
    }
    if (backtest->total.hits == 0) {
        return SLICE("the rule fired on no submission");
    }
    return arena_printf(arena,
                        "no verdict changes: the rule adds %+.4g to a score, and learning it again "
                        "adds no more; a larger adjustment would",
                        (double)backtest->rule.adjustment / (double)VERDICT_UNIT);
}

enum err backtest_report(struct arena *arena, const struct backtest *backtest, uint32_t number,
                         struct buffer *body)
{
    struct backtest_report_view view = {
        .rule_type = backtest->rule.rule_type,
        .pattern = slice_of(backtest->rule.pattern, backtest->rule.pattern_bytes),
        .confidence_adjustment = (double)backtest->rule.adjustment / (double)VERDICT_UNIT,
        .submission_count = backtest->submissions,
        .not_evaluable_count = backtest->not_evaluable,
        .suppressed_count = backtest->suppressed,
        .has_total = true,
        .has_other_reviewers = backtest->others.hits > 0,
        .suspicious_at = (double)backtest->thresholds.suspicious_at / (double)VERDICT_UNIT,
        .fake_at = (double)backtest->thresholds.fake_at / (double)VERDICT_UNIT,
        .as_of_seq = backtest->last_seq,
        .note = note_of(arena, backtest),
        .incomplete = backtest->is_incomplete,
    };
    struct buffer run;
    enum err err = OK;

    buffer_init(&run, arena, 64 * backtest->reviewer_count);
    err = put_reviewers(arena, backtest, &run);
    view.reviewers.run = buffer_slice(&run);
    if (err != OK || !encode_counts(arena, &backtest->total, &view.total) ||
        !encode_counts(arena, &backtest->others, &view.other_reviewers)) {
        return ERR_MEMORY;
    }
    backtest_report_view_put(&view, number, body);
    return buffer_ok(&run) && buffer_ok(body) ? OK : ERR_MEMORY;
}
