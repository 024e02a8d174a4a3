/*
 * rule_set_internal.h: declarations that the files of a rule set share.
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_RULE_SET_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_SCORING_RULE_SET_INTERNAL_H

#include "server/domain/scoring/rule_set.h"
#include "server/domain/verdicts/keys.h"

/* Returns whether a rule is matched: it is enabled, and adjusts scores or is in SHADOW. */
bool rule_set_has(const struct learned_rule_record *record);
/* Adds a rule with a higher number than all others; the set has room for it. */
MUST_CHECK enum err rule_set_add(struct rule_set *set, const struct learned_rule_row *row);
/* Copies the members of a rule that change. */
void rule_set_update(const struct learned_rule_record *record, struct scoring_rule *rule);

#endif
