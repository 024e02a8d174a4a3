/*
 * learners.c: see learners.h.
 */
#include "server/domain/verdicts/learners.h"

static const struct learner false_negative = {
    LEARNED_RULE_TYPE_FALSE_NEGATIVE,
    LEARNED_RULE_ACTION_INCREASE_WEIGHT,
    VERDICT_UNIT / 100 * 5,
};
static const struct learner false_positive = {
    LEARNED_RULE_TYPE_FALSE_POSITIVE,
    LEARNED_RULE_ACTION_DECREASE_WEIGHT,
    -(VERDICT_UNIT / 100 * 3),
};
static const struct learner missed_indicator = {
    LEARNED_RULE_TYPE_MISSED_INDICATOR,
    LEARNED_RULE_ACTION_ADD_CHECK,
    VERDICT_UNIT / 100 * 4,
};

size_t learners_of_missed(enum verdict original, enum verdict correct, struct learner *ret_learners)
{
    size_t count = 0;

    if (original == VERDICT_REAL && correct == VERDICT_FAKE) {
        ret_learners[count++] = false_negative;
    }
    ret_learners[count++] = missed_indicator;
    return count;
}

size_t learners_of_rejected(enum verdict original, enum verdict correct,
                            struct learner *ret_learners)
{
    if (original != VERDICT_FAKE || correct != VERDICT_REAL) {
        return 0;
    }
    ret_learners[0] = false_positive;
    return 1;
}

size_t learners_reinforced(const enum learned_rule_type **ret_types)
{
    static const enum learned_rule_type types[] = {LEARNED_RULE_TYPE_FALSE_NEGATIVE,
                                                   LEARNED_RULE_TYPE_MISSED_INDICATOR};

    *ret_types = types;
    return sizeof(types) / sizeof(types[0]);
}

bool learned_rule_raises(enum learned_rule_type rule_type, int64_t adjustment)
{
    return adjustment != 0 ? adjustment > 0 : rule_type != LEARNED_RULE_TYPE_FALSE_POSITIVE;
}

const struct learner *learner_of_type(enum learned_rule_type rule_type)
{
    if (rule_type == LEARNED_RULE_TYPE_FALSE_NEGATIVE) {
        return &false_negative;
    }
    return rule_type == LEARNED_RULE_TYPE_FALSE_POSITIVE ? &false_positive : &missed_indicator;
}
