/*
 * trial.c: see trial.h.
 */
#include "server/domain/backtest/trial.h"

#include "server/domain/json/members.h"
#include "server/domain/text/case_fold.h"
#include "server/domain/verdicts/learners.h"

#include <string.h>

enum err rule_trial_init(struct arena *arena, enum learned_rule_type rule_type,
                         struct slice pattern, int64_t adjustment, struct rule_trial *trial)
{
    *trial = (struct rule_trial){
        .rule_type = rule_type,
        .pattern = pattern,
        .adjustment = adjustment,
        .gates = score_gates_of(pattern),
    };
    return predicate_read(arena, pattern, &trial->predicate);
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
static enum err match_features(const struct rule_trial *trial,
                               const struct tried_submission *submission, bool *ret_matches)
{
    bool compares = trial->predicate.kind == PREDICATE_COMPARISON;
    struct json_walk walk =
        json_walk_start(members_value_of(submission->view->original_features_json));
    struct json_value value = {.kind = JSON_NULL};
    struct slice key = {NULL, 0};

    while (!*ret_matches && json_walk_next(&walk, &key, &value)) {
        bool is_pattern = json_key_is(key, trial->pattern);
        bool is_compared = compares && json_key_is(key, trial->predicate.name);
        struct feature feature = {.kind = JSON_NULL};
        enum err err =
            is_pattern || is_compared ? feature_read(submission->scratch, value, &feature) : OK;

        if (err != OK) {
            return err;
        }
        *ret_matches = (is_pattern && feature_is_set(&feature)) ||
                       (is_compared && predicate_holds(&trial->predicate, &feature));
    }
    return OK;
}

static enum err match_text(const struct rule_trial *trial, struct tried_submission *submission,
                           bool *ret_matches)
{
    struct slice phrase = trial->predicate.phrase;
    enum err err = OK;

    if (!submission->has_folded) {
        err = case_fold(submission->scratch, submission->view->text, &submission->folded);
        submission->has_folded = err == OK;
    }
    if (err == OK) {
        *ret_matches = phrase.size > 0 && memmem(submission->folded.data, submission->folded.size,
                                                 phrase.data, phrase.size) != NULL;
    }
    return err;
}

/* Returns whether the rule matches a submission; `ret_unknown`: it has no text to search. */
static enum err match(const struct rule_trial *trial, struct tried_submission *submission,
                      bool *ret_matches, bool *ret_unknown)
{
    const struct verdict_submission_view *view = submission->view;
    enum err err = OK;

    *ret_unknown = false;
    *ret_matches = has_indicator(view->confirmed_indicators.run, trial->pattern) ||
                   has_indicator(view->rejected_indicators.run, trial->pattern);
    if (!*ret_matches && view->original_features_json.size > 0) {
        err = match_features(trial, submission, ret_matches);
    }
    if (err != OK || *ret_matches || trial->predicate.kind != PREDICATE_PHRASE) {
        return err;
    }
    *ret_unknown = view->text.size == 0;
    return *ret_unknown ? OK : match_text(trial, submission, ret_matches);
}

/* Computes the weight of the rule for a submission. */
static enum err weigh(const struct rule_trial *trial, const struct verdict_submission_view *view,
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
        *ret_weight = score_weigh(trial->adjustment, trial->gates, &context);
    }
    return err;
}

/* Fills in what a rule that fired would have changed. */
static void compare(const struct rule_trial *trial, const struct verdict_submission_view *view,
                    int64_t weight, const struct score_thresholds *thresholds,
                    struct rule_trial_result *result)
{
    double score = view->original_score + (double)weight / (double)VERDICT_UNIT;
    enum verdict said =
        learned_rule_raises(trial->rule_type, trial->adjustment) ? VERDICT_FAKE : VERDICT_REAL;

    result->fires = true;
    result->agrees = view->correct_verdict == said;
    result->disagrees = !result->agrees && view->correct_verdict != VERDICT_SUSPICIOUS;
    result->before = score_verdict(view->original_score, thresholds);
    result->after = score_verdict(score_clamp(score), thresholds);
}

enum err rule_trial_run(const struct rule_trial *trial, struct tried_submission *submission,
                        const struct score_thresholds *thresholds,
                        struct rule_trial_result *ret_result)
{
    struct rule_trial_result result = {.fires = false};
    struct score_weight weight = {.weight = 0};
    bool matches = false;
    enum err err = match(trial, submission, &matches, &result.is_unknown);

    if (err == OK && matches) {
        err = weigh(trial, submission->view, &weight);
    }
    if (err == OK && matches) {
        result.is_suppressed = weight.suppressed_by != SCORE_GATE_UNSPECIFIED;
    }
    if (err == OK && matches && !result.is_suppressed) {
        compare(trial, submission->view, weight.weight, thresholds, &result);
    }
    *ret_result = result;
    return err;
}
