/*
 * rule_parts.h: an English rule as parts that can be compared: what is demanded or forbidden, its
 * object, its condition, and its bounds. A rule that is not understood has parts that match
 * nothing, so it conflicts with no other rule.
 */
#ifndef ERRATA_SERVER_DOMAIN_CONFLICTS_RULE_PARTS_H
#define ERRATA_SERVER_DOMAIN_CONFLICTS_RULE_PARTS_H

#include "server/domain/lexicon/lexicon.h"

/* Maximum parts of a rule; later ones are ignored. */
#define RULE_PARTS_MAX 12
/* Maximum words of a part that are compared. */
#define RULE_PART_WORDS_MAX 48
/* Maximum bounds and choices of a rule. */
#define RULE_BOUNDS_MAX 4
#define RULE_CHOICES_MAX 8

/* Words that name the object of a part, each once. Opposites are the positive word of their pair. */
struct rule_words {
    uint64_t items[RULE_PART_WORDS_MAX]; /* hashes of stems */
    size_t count;
};

/* A clause, or a part of a clause with its own negation. */
struct rule_part {
    struct rule_words words;
    bool is_negative; /* an odd number of negations and opposites */
    bool is_negated; /* an odd number of negations */
    bool is_condition; /* the part is a condition: it states when, not what */
    enum lexicon_condition condition;
};

/* A bound: a number of `unit`, or of the things that the next word names. */
struct rule_bound {
    double low;
    double high; /* equal to `low` for an exact number */
    int dimension; /* dimension of the unit; -1: see the word `of` */
    uint64_t of;
};

struct rule_choice {
    int group;
    int member;
    bool is_negative;
};

struct rule_parts {
    struct rule_part items[RULE_PARTS_MAX];
    size_t count;
    struct rule_words all; /* words of all parts, without choices */
    struct rule_bound bounds[RULE_BOUNDS_MAX];
    size_t bound_count;
    struct rule_choice choices[RULE_CHOICES_MAX];
    size_t choice_count;
};

/* Reads a rule. Fails only with ERR_MEMORY. */
MUST_CHECK enum err rule_parts_read(struct arena *arena, struct slice rule,
                                    struct rule_parts *ret_parts);
/* Returns the number of words that the other part does not have. */
size_t rule_words_missing(const struct rule_words *words, const struct rule_words *other);

#endif
