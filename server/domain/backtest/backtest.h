/*
 * backtest.h: runs one rule over the stored submissions, newest first, in steps: each may be read in a transaction of its
 * own. A submission's score is the stored original one with only this rule added; its indicators are the confirmed and
 * the rejected ones, since missed ones were absent when it was scored. A value that a submission
 * lacks leaves its gate open: without a confidence nothing is reduced. A phrase cannot be evaluated
 * without the text. Submissions that are stored after the first step are left out.
 */
#ifndef ERRATA_SERVER_DOMAIN_BACKTEST_BACKTEST_H
#define ERRATA_SERVER_DOMAIN_BACKTEST_BACKTEST_H

#include "server/domain/scoring/score.h"
#include "server/domain/verdicts/learners.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"
#include "store/log.h"

/* Maximum submissions of a backtest: the newest million takes less than 30 s. */
#define BACKTEST_SUBMISSIONS_MAX 1000000
/* Maximum submissions of a step, which takes about 15 ms; then other long reads get the thread. */
#define BACKTEST_STEP_MAX 2000
/* Maximum number of listed reviewers; further ones are added up. */
#define BACKTEST_REVIEWERS_MAX 100
/* Maximum bytes of a pattern and of a reviewer's id, as in the contract. */
#define BACKTEST_PATTERN_BYTES_MAX 256
#define BACKTEST_REVIEWER_BYTES_MAX 128

struct backtest_counts {
    uint64_t hits; /* the rule fired: it matched, and no gate suppressed it */
    uint64_t agreements; /* hits in which the human's verdict has the direction of the rule */
    uint64_t false_alarms; /* hits in which it has the other direction; SUSPICIOUS has neither */
    uint64_t flips_right; /* changed verdicts that are then the human's */
    uint64_t flips_wrong; /* changed verdicts that were the human's */
    uint64_t flips_other; /* changed verdicts of which neither is the human's */
};

struct backtest_reviewer {
    char id[BACKTEST_REVIEWER_BYTES_MAX];
    size_t id_bytes; /* 0: submissions without a reviewer */
    struct backtest_counts counts;
};

/* The rule that is run. */
struct backtest_rule {
    enum learned_rule_type rule_type;
    uint8_t pattern[BACKTEST_PATTERN_BYTES_MAX];
    size_t pattern_bytes;
    int64_t adjustment; /* in units */
};

/* A backtest. Zero it, then set what is to be run. */
struct backtest {
    struct org_id org;
    bool has_id; /* a stored rule is run, which the first step reads */
    struct uuid id;
    struct backtest_rule rule;
    struct score_thresholds thresholds; /* the organisation's; set before the first step */
    uint64_t submissions_max; /* from 1 */
    /* Results: */
    bool has_begun;
    bool has_ended;
    bool is_incomplete; /* the backtest ended at submissions_max */
    uint64_t last_seq; /* the last event before the first step */
    uint64_t submissions;
    uint64_t not_evaluable; /* for a phrase: submissions without a text */
    uint64_t suppressed; /* submissions that matched, but were suppressed by a gate */
    struct backtest_counts total;
    struct backtest_reviewer reviewers[BACKTEST_REVIEWERS_MAX];
    size_t reviewer_count;
    struct backtest_counts others; /* reviewers that are not listed */
    struct key position; /* position of the last examined submission */
};

/* Sets the rule of a candidate. ERR_INVALID, naming the field below `candidate`, for an adjustment
 * whose sign is not that of the type; if it is absent, that of the type is used. */
MUST_CHECK enum err backtest_set_candidate(struct ctx *ctx, enum learned_rule_type rule_type,
                                           struct slice pattern, const double *adjustment,
                                           struct backtest *backtest);
/* Examines the next submissions. ERR_NOT_FOUND, with a fault, for an unknown rule; ERR_CORRUPT, ERR_MEMORY;
 * ERR_CANCELLED once `is_cancelled` returns true. */
MUST_CHECK enum err backtest_step(struct ctx *ctx, struct store_txn *txn, struct backtest *backtest,
                                  bool (*is_cancelled)(const void *user), const void *user);
/* Appends the report as field `number`. */
MUST_CHECK enum err backtest_report(struct arena *arena, const struct backtest *backtest,
                                    uint32_t number, struct buffer *body);

#endif
