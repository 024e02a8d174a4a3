/*
 * lexicon.h: the meaning of English words and short phrases for reviews and rules: cues of praise,
 * requests and negation, concepts of reviews, opposites, choices, units. The entries are data
 * (lexicon.def, concepts.def). A phrase matches by the stems of its words, within a sentence.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEXICON_LEXICON_H
#define ERRATA_SERVER_DOMAIN_LEXICON_LEXICON_H

#include "server/domain/words/words.h"

/* Maximum number of concepts in the data. */
#define LEXICON_CONCEPTS_MAX 128

/* The lists to which an entry may belong; the list determines the meaning of its value. */
enum lexicon_list {
    LEXICON_FUNCTION, /* a word without content: articles, pronouns, auxiliaries */
    LEXICON_VAGUE, /* a word or phrase that says nothing about the work */
    LEXICON_PRAISE,
    LEXICON_WORRY, /* cancels praise: though, not, but */
    LEXICON_REQUEST, /* asks for a change, or names a defect */
    LEXICON_GENERAL, /* refers to all work, not to one place */
    LEXICON_SPECIFIC, /* refers to one place, time, person or exception */
    LEXICON_PLACE, /* names a part that a number may follow, such as line 12 */
    LEXICON_TECHNICAL, /* is written with a capital and names neither a person nor a place */
    LEXICON_CONCEPT, /* value: the concept */
    LEXICON_NEGATION, /* value: enum lexicon_negation */
    LEXICON_CONDITION, /* value: enum lexicon_condition */
    LEXICON_LIGHT, /* a verb or word of rules that does not name their object */
    LEXICON_OPPOSITE, /* value: pair * 2 + 1 for its negative side */
    LEXICON_CHOICE, /* value: group * 100 + member */
    LEXICON_BOUND, /* value: enum lexicon_bound */
    LEXICON_NUMBER, /* value: the number that the word means */
    LEXICON_UNIT, /* value: enum lexicon_unit */
    LEXICON_MEASURE, /* a word that qualifies a bound: length, size */
    LEXICON_LIST_COUNT
};

enum lexicon_negation {
    NEGATION_WORD, /* not, never, avoid */
    NEGATION_CONTRAST, /* instead of, rather than: what follows is not wanted, what precedes is */
    NEGATION_WITHOUT
};

enum lexicon_condition {
    CONDITION_WHEN,
    CONDITION_BEFORE,
    CONDITION_AFTER
};

enum lexicon_bound {
    BOUND_AT_MOST,
    BOUND_BELOW,
    BOUND_AT_LEAST,
    BOUND_ABOVE,
    BOUND_EXACTLY
};

enum lexicon_unit {
    UNIT_MILLISECOND,
    UNIT_SECOND,
    UNIT_MINUTE,
    UNIT_HOUR,
    UNIT_DAY,
    UNIT_WEEK,
    UNIT_MONTH,
    UNIT_YEAR,
    UNIT_BYTE,
    UNIT_KILOBYTE,
    UNIT_MEGABYTE,
    UNIT_GIGABYTE,
    UNIT_PERCENT,
    UNIT_COUNT
};

/* A phrase that was found. */
struct lexicon_match {
    enum lexicon_list list;
    int value;
    uint16_t from; /* index of its first word */
    uint16_t count; /* number of its words */
};

struct lexicon_matches {
    struct lexicon_match *items; /* in the arena, sorted by first word, longer ones first */
    size_t count;
};

/* Finds every phrase in the words. Fails only with ERR_MEMORY. */
MUST_CHECK enum err lexicon_find(struct arena *arena, const struct words *words,
                                 struct lexicon_matches *ret_matches);
/* Returns the name of a concept, for people; empty if there is no concept with this number. */
struct slice lexicon_concept_name(int concept);

#endif
