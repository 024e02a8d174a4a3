/*
 * suggest.h: "did you mean": the known word that is nearest to a mistyped one.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_SUGGEST_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_SUGGEST_H

#include "store/base/slice.h"

/* Longer words than this are compared by their first bytes. */
#define SUGGEST_WORD_BYTES_MAX 96

/* The most similar of the offered candidates. */
struct suggest {
    struct slice typed; /* borrowed */
    struct slice best; /* borrowed from its candidate; empty if none is near enough */
    unsigned best_distance;
};

void suggest_init(struct suggest *suggest, struct slice typed);
/* Offers a candidate. It is accepted if at most a third of the typed word (or two letters, if that
 * is more) differs, or if it begins with the typed word. Ignores case. */
void suggest_offer(struct suggest *suggest, struct slice candidate);

/* Returns the number of letters to insert, delete, replace or swap with a neighbour to turn one
 * word into the other. */
unsigned suggest_distance(struct slice a, struct slice b);

#endif
