/*
 * predicate.h: patterns of learned rules as conditions on a receipt. Each pattern is compared with indicators and with
 * names of features, as bytes; `text:PHRASE` is also a phrase of the text; each other pattern with `=`, `>` or `<` is
 * also a comparison of the feature whose name precedes the first of them.
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_PREDICATE_H
#define ERRATA_SERVER_DOMAIN_SCORING_PREDICATE_H

#include "store/base/arena.h"
#include "store/base/json.h"

enum predicate_kind {
    PREDICATE_PLAIN,
    PREDICATE_COMPARISON,
    PREDICATE_PHRASE
};

struct predicate {
    enum predicate_kind kind;
    uint8_t operator_byte; /* operator of a comparison: `=`, `>` or `<` */
    struct slice name; /* left side of a comparison; borrowed from the pattern */
    struct slice value; /* for a comparison: the text after the operator */
    bool has_number; /* the value is a number in JSON notation */
    double number;
    struct slice phrase; /* for a phrase: its folded text; empty: it occurs in no text */
};

/* A feature of a scored receipt. */
struct feature {
    enum json_kind kind;
    double number; /* value of a number */
    struct slice text; /* text of a string, without escapes */
};

/* Reads a pattern, which the predicate borrows from; a folded phrase is in the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err predicate_read(struct arena *arena, struct slice pattern,
                                   struct predicate *ret_predicate);
/* Reads a feature from a checked value that is followed by more of its document. Fails only with ERR_MEMORY. */
MUST_CHECK enum err feature_read(struct arena *arena, struct json_value value,
                                 struct feature *ret_feature);
/* Returns whether a pattern that is the name of the feature matches: true, a string that is not empty, or a number
 * that is not 0. */
bool feature_is_set(const struct feature *feature);
/* Returns whether a comparison is true for the feature that it names. `>` and `<` compare numbers
 * only; `=` compares a number as a number, a boolean with `true` or `false`, and a string as bytes. */
bool predicate_holds(const struct predicate *comparison, const struct feature *feature);

#endif
