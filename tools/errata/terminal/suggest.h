/*
 * suggest.h: "did you mean": the known word that is nearest to a mistyped one.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_SUGGEST_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_SUGGEST_H

#include "store/base/slice.h"

/* Longer words than this are compared by their first bytes. */
#define SUGGEST_WORD_BYTES_MAX 96

/* Keeps the nearest of the candidates that it is shown. */
struct suggest {
    struct slice typed; /* borrowed */
    struct slice best; /* borrowed from its candidate; empty where none is near enough */
    unsigned best_distance;
};

void suggest_init(struct suggest *suggest, struct slice typed);
/* A candidate counts where at most a third of the typed word (at least two letters) differs, or
 * where it begins with the typed word. Letter case does not count. */
void suggest_offer(struct suggest *suggest, struct slice candidate);

/* Letters to insert, delete, replace or swap with their neighbour to make one of the other. */
unsigned suggest_distance(struct slice a, struct slice b);

#endif
