/*
 * trial.h: the effect that one rule would have had on one stored submission, whose score is the
 * stored original one with only this rule added. Its indicators are the confirmed and the rejected
 * ones, since missed ones were absent when it was scored. A value that a submission lacks leaves
 * its gate open. A phrase cannot be evaluated without the text.
 */
#ifndef ERRATA_SERVER_DOMAIN_BACKTEST_TRIAL_H
#define ERRATA_SERVER_DOMAIN_BACKTEST_TRIAL_H

#include "server/domain/scoring/predicate.h"
#include "server/domain/scoring/score.h"

#include <errata/v1/learned_rule.fields.h>
#include <errata/v1/verdict_submission.views.h>

/* Memory for one submission: its text folded, and the strings of its features for one rule. */
#define TRIAL_MEMORY_MAX (1u << 20)

/* A rule to be tried. Its slices are borrowed. */
struct rule_trial {
    enum learned_rule_type rule_type;
    struct slice pattern;
    int64_t adjustment; /* in units */
    struct predicate predicate;
    struct score_gates gates;
};

/* A submission, for any number of rules. */
struct tried_submission {
    const struct verdict_submission_view *view;
    struct arena *scratch; /* emptied by the caller after the submission */
    bool has_folded;
    struct slice folded; /* text of the submission, set once a rule needed it */
};

struct rule_trial_result {
    bool is_unknown; /* a phrase, and the submission has no text */
    bool is_suppressed; /* the rule matched, and a gate suppressed it */
    bool
        fires; /* the rule matched, and no gate suppressed it; the members below are set only then */
    bool agrees; /* the correct verdict has the direction of the rule */
    bool disagrees; /* the correct verdict has the other direction; SUSPICIOUS has none */
    enum verdict before; /* verdict that follows from the original score */
    enum verdict after; /* verdict that follows from the score with the rule */
};

/* Prepares a rule; fails only with ERR_MEMORY. */
MUST_CHECK enum err rule_trial_init(struct arena *arena, enum learned_rule_type rule_type,
                                    struct slice pattern, int64_t adjustment,
                                    struct rule_trial *trial);
/* Tries the rule. ERR_MEMORY, or ERR_CORRUPT for an invalid submission. */
MUST_CHECK enum err rule_trial_run(const struct rule_trial *trial,
                                   struct tried_submission *submission,
                                   const struct score_thresholds *thresholds,
                                   struct rule_trial_result *ret_result);

#endif
