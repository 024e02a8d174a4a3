/*
 * sanitise.h: what stands between text that people, documents or models wrote and a prompt. The one
 * profile here is EXAMPLE, for the string leaves of few-shot examples: JSON is the wrapper, so text
 * keeps its letters and loses what acts: control, bidi and zero-width characters, ANSI escapes,
 * template marks, chat markup, role prefixes at line starts. Stored and answered data never passes
 * it. A change of its rules raises the store's format version: prepared examples are made anew.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_SANITISE_H
#define ERRATA_SERVER_DOMAIN_TEXT_SANITISE_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* What is taken out may make new marks of what stood around it, so the rules are applied until
 * nothing changes. Honest text needs two rounds; one that needs more than this is empty. */
#define SANITISE_ROUNDS_MAX 32

/* The text after profile EXAMPLE, never longer than before; doing it again changes nothing. Line
 * ends of any kind become a line feed, a tab a space. Text that is not UTF-8, or nests marks deeper
 * than SANITISE_ROUNDS_MAX, becomes the empty text. Borrowed from `text` where nothing had to go,
 * else in the arena. Fails with ERR_MEMORY alone. */
MUST_CHECK enum err sanitise_example(struct arena *arena, struct slice text,
                                     struct slice *ret_text);

#endif
