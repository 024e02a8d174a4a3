/*
 * evaluator.h: the class of a human decision on an agent's output, with a confidence and the reasons in words. The table
 * is evaluated from its first row; nothing is learned, and equal input gives an equal result. Floats are used: results
 * are recorded in events, never computed by apply.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVALUATOR_EVALUATOR_H
#define ERRATA_SERVER_DOMAIN_EVALUATOR_EVALUATOR_H

#include "server/domain/evaluator/signals.h"
#include "store/base/buffer.h"

/* Minimum support of a rule for everyone. */
#define EVALUATOR_HIGH_MEMBERS_MIN 3
#define EVALUATOR_HIGH_REVIEWERS_MIN 2
#define EVALUATOR_HIGH_TASKS_MIN 2
#define EVALUATOR_LOW_MEMBERS_MIN 2
/* Maximum changed lines of a decision that is only praise, and of one about a single place. */
#define EVALUATOR_PRAISE_LINES_MAX 1
#define EVALUATOR_EDGE_LINES_MAX 2
/* Numbers of reviewers and epics above which the confidence does not increase. */
#define EVALUATOR_REVIEWERS_COUNTED 4
#define EVALUATOR_EPICS_COUNTED 3
/* Age at which evidence counts half. */
#define EVALUATOR_HALF_LIFE_DAYS 30
/* Minimum confidence for proposing a cluster at once. */
#define EVALUATOR_EXPEDITED_CONFIDENCE 0.9

enum evaluator_decision {
    EVALUATOR_APPROVED,
    EVALUATOR_REJECTED,
    EVALUATOR_APPROVED_WITH_CHANGES
};

enum evaluator_class {
    EVALUATOR_POSITIVE,
    EVALUATOR_AMBIGUOUS,
    EVALUATOR_HIGH,
    EVALUATOR_LOW,
    EVALUATOR_EDGE_CASE
};

enum evaluator_action {
    EVALUATOR_NO_ACTION,
    EVALUATOR_CREATE_RULE,
    EVALUATOR_REFINE_PROMPT,
    EVALUATOR_UPDATE_SKILL,
    EVALUATOR_DOCUMENT_ONLY
};

/* Facts about the decision itself. */
struct evaluator_input {
    enum evaluator_decision decision;
    struct comment_signals signals; /* signals of the comment and the summary of the correction */
    bool has_words;
    bool has_correction; /* a diff, its path, a summary or another output was given */
    uint32_t changed_lines;
    bool names_skill;
};

/* Counts over the cluster of the decision. */
struct evaluator_support {
    uint32_t members; /* number of members; 1 for a decision without a cluster */
    uint32_t reviewers;
    uint32_t tasks;
    uint32_t epics;
    uint32_t changes; /* members that are not APPROVED */
    double age_days; /* mean age of the members */
    bool contradicts; /* one member contradicts another one */
};

struct evaluator_result {
    enum evaluator_class class;
    double confidence; /* 0 to 1 */
    struct slice rationale; /* in the arena */
    enum evaluator_action action;
};

/* Returns whether the decision is evidence: neither pure praise nor vague. Such a decision has a cluster. */
bool evaluator_is_evidence(const struct evaluator_input *input);
/* Classifies a decision. `support` has one member if the decision is not evidence. Fails only with ERR_MEMORY. */
MUST_CHECK enum err evaluator_classify(struct arena *arena, const struct evaluator_input *input,
                                       const struct evaluator_support *support,
                                       struct evaluator_result *ret_result);
/* Appends the counts of a cluster in words: "3 decisions by 2 reviewers on 3 tasks in 1 epic". */
void evaluator_support_print(const struct evaluator_support *support, struct buffer *text);
/* Returns whether the tags or paths of a decision name a skill. `path` is of the diff, or of a line in it. */
bool evaluator_names_skill(struct slice tag);
bool evaluator_has_skill_path(struct slice text);

#endif
