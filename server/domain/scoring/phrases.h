/*
 * phrases.h: finds which of many phrases occur in a text, in one pass: the automaton of Aho and
 * Corasick, "Efficient string matching" (1975), over bytes. In valid UTF-8, a match always starts
 * and ends at a boundary of code points. The time of a search grows with the bytes of the text and
 * the number of phrases, not with their product.
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_PHRASES_H
#define ERRATA_SERVER_DOMAIN_SCORING_PHRASES_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Memory for each byte of all phrases: the maximum while the automaton is built, and afterwards. */
#define PHRASES_STATE_BYTES 30

/* An automaton. State 0 is the start. States are numbered by depth; the children of state s are those from
 * first_child[s] to before first_child[s + 1], in the order of their bytes. */
struct phrases {
    uint32_t *first_child; /* state_count + 1 numbers */
    uint32_t *suffix; /* the state of the longest proper suffix that is a state */
    uint32_t
        *ending; /* the longest suffix, or the state itself, that ends a phrase; 0: there is none */
    uint32_t *place; /* for a state that ends phrases: the first of them in `order` */
    uint8_t *byte; /* byte that leads to the state */
    uint32_t *order; /* phrases in the order of their bytes; equal ones are next to each other */
    bool *is_repeated; /* the phrase at this index is equal to the one before it */
    uint32_t state_count;
    uint32_t phrase_count;
};

/* Builds an automaton of phrases that are not empty. It borrows nothing from them. ERR_MEMORY. */
MUST_CHECK enum err phrases_build(struct arena *arena, const struct slice *items, size_t count,
                                  struct phrases *ret_phrases);
/* Sets found[i] for each phrase i that occurs in the text; all are false before. */
void phrases_find(const struct phrases *phrases, struct slice text, bool *found);

#endif
