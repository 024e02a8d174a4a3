/*
 * learners.h: decides which rules are learned from a submission, by pure functions of the
 * submission. Rules that exist are looked up elsewhere (submit.c).
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_LEARNERS_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_LEARNERS_H

#include "server/domain/verdicts/records.h"

#include <errata/v1/learned_rule.fields.h>
#include <errata/v1/verdict_submission.fields.h>

/* Maximum indicators in one list, as in the contract. */
#define VERDICT_INDICATORS_MAX 50

/* The accuracy of a new rule, in units. */
#define LEARNED_RULE_ACCURACY (VERDICT_UNIT / 2)

/* A list without repeated indicators. Slices are borrowed. */
struct verdict_indicators {
    struct slice items[VERDICT_INDICATORS_MAX];
    size_t count;
};

/* The rule that is learned from each indicator of one list. */
struct learner {
    enum learned_rule_type rule_type;
    enum learned_rule_action action;
    int64_t adjustment; /* in units */
};

/* Returns the learners for missed indicators, given the verdicts: one for each kind of rule, in the
 * order in which rules are created; `ret_learners` has room for 2. */
size_t learners_of_missed(enum verdict original, enum verdict correct,
                          struct learner *ret_learners);
/* Does the same for rejected indicators; at most 1. */
size_t learners_of_rejected(enum verdict original, enum verdict correct,
                            struct learner *ret_learners);
/* Returns the types of rules that a confirmed indicator reinforces. */
size_t learners_reinforced(const enum learned_rule_type **ret_types);

/* Returns the direction of a rule: true if it raises scores. An adjustment of 0 has the direction of the type. */
bool learned_rule_raises(enum learned_rule_type rule_type, int64_t adjustment);

/* Returns the adjustment with which a rule of a type is learned. */
const struct learner *learner_of_type(enum learned_rule_type rule_type);

#endif
