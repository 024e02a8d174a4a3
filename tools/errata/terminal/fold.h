/*
 * fold.h: text without the differences that comparing passes over: case and compatible forms of
 * letters. Two texts that any server takes for one fold alike; some that it distinguishes may, too.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_FOLD_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_FOLD_H

#include "store/base/arena.h"

/* Copied to the arena; text that cannot be folded, such as invalid UTF-8, gives the empty slice, and so
 * counts as one. */
struct slice fold_text(struct arena *arena, struct slice text);

#endif
