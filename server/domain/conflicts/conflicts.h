/*
 * conflicts.h: whether two rules in English contradict each other, are duplicates, or overlap. Contradictions are of
 * four kinds: a rule and its negation or opposite, bounds that cannot both be satisfied, and two of
 * several choices. Rules about different objects or for different conditions do not conflict. In
 * cases of doubt no conflict is reported.
 */
#ifndef ERRATA_SERVER_DOMAIN_CONFLICTS_CONFLICTS_H
#define ERRATA_SERVER_DOMAIN_CONFLICTS_CONFLICTS_H

#include "server/domain/conflicts/rule_parts.h"

enum conflict_reason {
    CONFLICT_NONE,
    CONFLICT_NEGATION, /* one forbids what the other demands, by a negation or an opposite */
    CONFLICT_BOUNDS, /* numbers that cannot both be satisfied */
    CONFLICT_CHOICE /* two of several choices, such as tabs and spaces */
};

struct conflict {
    enum conflict_reason reason; /* reason of a contradiction */
    bool is_duplicate; /* the same words, without a contradiction */
    double overlap; /* share of the words that both have, 0 to 1 */
};

/* Compares two rules, in either order. */
struct conflict rule_parts_compare(const struct rule_parts *a, const struct rule_parts *b);

/* Returns whether two comments ask for the opposite of each other. Stricter than for rules, since a comment may describe a
 * defect ("this has no tests") as well as ask for a change. */
bool rule_parts_oppose(const struct rule_parts *a, const struct rule_parts *b);

#endif
