/*
 * backtest.c: see backtest.h.
 */
#include "server/domain/backtest/backtest.h"

#include "server/domain/json/members.h"
#include "server/domain/scoring/predicate.h"
#include "server/domain/scoring/score.h"
#include "server/domain/text/case_fold.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/rules.h"
#include "store/scan.h"

#include <errata/v1/verdict_submission.views.h>
#include <math.h>
#include <string.h>

/* Memory for one submission: its text folded, and the strings of its features. */
#define SUBMISSION_MEMORY_MAX (1u << 20)
/* Submissions between two calls of is_cancelled. */
#define ROWS_BETWEEN_LOOKS 64

/* The rule in a step. */
struct stepping {
    struct backtest *backtest;
    struct slice pattern;
    struct predicate predicate;
    struct score_gates gates;
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

static bool has_indicator(struct slice run, struct slice pattern)
{
    struct slice indicator = {NULL, 0};

    while (view_next(&run, &indicator)) {
        if (slice_equal(indicator, pattern)) {
            return true;
        }
    }
    return false;
}

/* Returns whether a feature with the name of the pattern is set, or the comparison holds. */
static enum err match_features(struct stepping *stepping, struct slice features, bool *ret_matches)
{
    bool compares = stepping->predicate.kind == PREDICATE_COMPARISON;
    struct json_walk walk = json_walk_start(members_value_of(features));
    struct json_value value = {.kind = JSON_NULL};
    struct slice key = {NULL, 0};

    while (!*ret_matches && json_walk_next(&walk, &key, &value)) {
        bool is_pattern = json_key_is(key, stepping->pattern);
        bool is_compared = compares && json_key_is(key, stepping->predicate.name);
        struct feature feature = {.kind = JSON_NULL};
        enum err err =
            is_pattern || is_compared ? feature_read(&stepping->scratch, value, &feature) : OK;

        if (err != OK) {
            return err;
        }
        *ret_matches = (is_pattern && feature_is_set(&feature)) ||
                       (is_compared && predicate_holds(&stepping->predicate, &feature));
    }
    return OK;
}

static enum err match_text(struct stepping *stepping, struct slice text, bool *ret_matches)
{
    struct slice phrase = stepping->predicate.phrase;
    struct slice folded = {NULL, 0};
    enum err err = case_fold(&stepping->scratch, text, &folded);

    if (err == OK) {
        *ret_matches =
            phrase.size > 0 && memmem(folded.data, folded.size, phrase.data, phrase.size) != NULL;
    }
    return err;
}

/* Returns whether the rule matches a submission; `ret_evaluable` is false if that is not known. */
static enum err match(struct stepping *stepping, const struct verdict_submission_view *view,
                      bool *ret_matches, bool *ret_evaluable)
{
    enum err err = OK;

    *ret_evaluable = true;
    *ret_matches = has_indicator(view->confirmed_indicators.run, stepping->pattern) ||
                   has_indicator(view->rejected_indicators.run, stepping->pattern);
    if (!*ret_matches && view->original_features_json.size > 0) {
        err = match_features(stepping, view->original_features_json, ret_matches);
    }
    if (err != OK || *ret_matches || stepping->predicate.kind != PREDICATE_PHRASE) {
        return err;
    }
    *ret_evaluable = view->text.size > 0;
    return *ret_evaluable ? match_text(stepping, view->text, ret_matches) : OK;
}

/* Weighs the rule for a submission. */
static enum err weigh(const struct stepping *stepping, const struct verdict_submission_view *view,
                      struct score_weight *ret_weight)
{
    struct score_context context = {
        .missing_fields_enabled = !view->has_missing_fields_enabled || view->missing_fields_enabled,
        .profile_confidence = 1,
    };
    struct document_profile_view profile = {.has_confidence = false};
    enum err err = view->has_document_profile
                       ? document_profile_view_read(view->document_profile, &profile)
                       : OK;

    if (err == OK) {
        context.profile_subtype = profile.subtype;
        context.profile_confidence = profile.has_confidence ? profile.confidence : 1;
        *ret_weight = score_weigh(stepping->backtest->rule.adjustment, stepping->gates, &context);
    }
    return err;
}

/* Returns whether the rule says FAKE; a rule without weight has the direction of its type. */
static bool says_fake(const struct backtest_rule *rule)
{
    int64_t adjustment = rule->adjustment;

    return (adjustment != 0 ? adjustment : learner_of_type(rule->rule_type)->adjustment) > 0;
}

/* Returns the counts of a reviewer; of all others if the list is full. */
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

static void count_hit(const struct backtest *backtest, const struct verdict_submission_view *view,
                      int64_t weight, struct backtest_counts *counts)
{
    double score = view->original_score + (double)weight / (double)VERDICT_UNIT;
    enum verdict before = score_verdict(view->original_score, &backtest->thresholds);
    enum verdict after = score_verdict(score_clamp(score), &backtest->thresholds);
    enum verdict said = says_fake(&backtest->rule) ? VERDICT_FAKE : VERDICT_REAL;
    bool is_flip = before != after;

    counts->hits++;
    counts->agreements += view->correct_verdict == said;
    counts->false_alarms +=
        view->correct_verdict != said && view->correct_verdict != VERDICT_SUSPICIOUS;
    counts->flips_right += is_flip && after == view->correct_verdict;
    counts->flips_wrong += is_flip && before == view->correct_verdict;
    counts->flips_other +=
        is_flip && after != view->correct_verdict && before != view->correct_verdict;
}

static enum err examine(struct store_txn *txn, struct stepping *stepping, uint64_t seq)
{
    struct backtest *backtest = stepping->backtest;
    struct verdict_submission_view view;
    struct score_weight weight = {.weight = 0};
    struct event event;
    bool matches = false;
    bool evaluable = false;
    enum err err = log_read(txn, backtest->org, seq, &event);

    if (err == OK) {
        err = view_read_parts(&verdict_submission_view_type, event.facts, event.content, &view);
    }
    if (err == OK) {
        err = match(stepping, &view, &matches, &evaluable);
    }
    if (err == OK && matches) {
        err = weigh(stepping, &view, &weight);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    backtest->submissions++;
    backtest->not_evaluable += !evaluable;
    if (matches && weight.suppressed_by != SCORE_GATE_UNSPECIFIED) {
        backtest->suppressed++;
    } else if (matches) {
        count_hit(backtest, &view, weight.weight, &backtest->total);
        count_hit(backtest, &view, weight.weight, counts_of(backtest, view.actor_user_id));
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
    stepping.pattern = slice_of(backtest->rule.pattern, backtest->rule.pattern_bytes);
    stepping.gates = score_gates_of(stepping.pattern);
    err = predicate_read(ctx->arena, stepping.pattern, &stepping.predicate);
    if (err == OK) {
        arena_init(&stepping.scratch, SUBMISSION_MEMORY_MAX);
        err = examine_all(txn, &stepping, is_cancelled, user);
        arena_deinit(&stepping.scratch);
    }
    return err;
}
