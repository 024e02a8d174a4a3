/*
 * rule_file.c: see rule_file.h. A word's place in its table is the number of its enum value.
 */
#include "server/domain/rule_files/rule_file.h"

#include <errata/v1/artifact.fields.h>
#include <errata/v1/learned_rule.fields.h>

static const char *const type_words[] = {
    [LEARNED_RULE_TYPE_FALSE_NEGATIVE] = "false_negative",
    [LEARNED_RULE_TYPE_FALSE_POSITIVE] = "false_positive",
    [LEARNED_RULE_TYPE_MISSED_INDICATOR] = "missed_indicator",
};
static const char *const action_words[] = {
    [LEARNED_RULE_ACTION_INCREASE_WEIGHT] = "increase_weight",
    [LEARNED_RULE_ACTION_DECREASE_WEIGHT] = "decrease_weight",
    [LEARNED_RULE_ACTION_ADD_CHECK] = "add_check",
};
static const char *const state_words[] = {
    [ARTIFACT_STATE_PROPOSED] = "proposed", [ARTIFACT_STATE_SHADOW] = "shadow",
    [ARTIFACT_STATE_ACTIVE] = "active",     [ARTIFACT_STATE_SUNSET_PROPOSED] = "sunset_proposed",
    [ARTIFACT_STATE_RETIRED] = "retired",   [ARTIFACT_STATE_REJECTED] = "rejected",
};

static struct slice word_of(const char *const *words, size_t count, uint32_t value)
{
    return value < count && words[value] != NULL ? slice_text(words[value]) : slice_of(NULL, 0);
}

#define WORD_OF(words, value) word_of(words, sizeof(words) / sizeof((words)[0]), value)

struct slice rule_file_type_word(uint32_t rule_type)
{
    return WORD_OF(type_words, rule_type);
}

struct slice rule_file_action_word(uint32_t action)
{
    return WORD_OF(action_words, action);
}

struct slice rule_file_state_word(uint32_t state)
{
    return WORD_OF(state_words, state);
}
