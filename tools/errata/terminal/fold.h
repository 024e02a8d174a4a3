/*
 * fold.h: folds texts for comparison: removes differences of case and of compatible forms of
 * letters. Texts that a server considers equal fold to the same text; so may some that it
 * distinguishes.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_FOLD_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_FOLD_H

#include "store/base/arena.h"

/* Returns the folded text in the arena; for text that cannot be folded, such as invalid UTF-8, the
 * empty slice, so that all such texts are equal. */
struct slice fold_text(struct arena *arena, struct slice text);

#endif
