/*
 * sanitise.h: the filter between text that people, documents or models wrote and a prompt, in three
 * profiles. It is never applied to stored or returned data. Applying it twice gives the same
 * result. Text that cannot be made safe (it is not UTF-8, it nests marks too deep, there is no
 * memory for it) becomes the empty text and is counted; the caller logs that.
 *
 * NOTE and GUIDELINE: NFKC; then code fences, role prefixes at line starts, chat markup, template
 * marks, ANSI escapes and every character that allowed.h does not allow are removed; at most 500
 * characters remain. A note is inserted into a prompt in quotes (quote.h), a guideline without quotes.
 *
 * EXAMPLE, for the string leaves of few-shot examples: JSON separates the text from the prompt, so
 * its letters are kept and only active elements are removed: control, bidi and zero-width
 * characters, ANSI escapes, template marks, chat markup, role prefixes at line starts. A change of
 * its rules raises the store's format version: prepared examples are rebuilt.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_SANITISE_H
#define ERRATA_SERVER_DOMAIN_TEXT_SANITISE_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Removing marks may create new ones, so the rules are applied until nothing changes. Ordinary text
 * needs two rounds; a text that needs more than this becomes empty. */
#define SANITISE_ROUNDS_MAX 32
/* Each round takes time proportional to the text, so a longer text than this gets fewer rounds. */
#define SANITISE_LONG_CHARACTERS 8192
#define SANITISE_LONG_ROUNDS_MAX 4
/* Maximum code points of a sanitised note or guideline. */
#define SANITISE_FIELD_CHARACTERS_MAX 500
/* Maximum code points of a note or guideline, as sent and as decomposed, that are read: later ones
 * could be among the first 500 only if marks precede them. */
#define SANITISE_FIELD_READ_MAX 4096

enum sanitise_profile {
    SANITISE_NOTE,
    SANITISE_GUIDELINE,
    SANITISE_EXAMPLE
};

/* The result of sanitising a text. */
struct sanitised {
    struct slice text; /* borrowed from the given text if nothing was removed, else in the arena */
    bool failed; /* the text could not be made safe, and is therefore empty */
    bool is_cut; /* set for NOTE and GUIDELINE if the text was too long */
};

struct sanitised sanitise_text(struct arena *arena, enum sanitise_profile profile,
                               struct slice text);
/* Applies profile NOTE with at most `characters_max` characters in the result, and at most 500.
 * Cuts at a boundary of grapheme clusters if possible. */
struct sanitised sanitise_note(struct arena *arena, struct slice text, size_t characters_max);
/* Applies profile EXAMPLE to text that is stored with an event. Fails with ERR_MEMORY, since a
 * stored text must not depend on the available memory. Line ends of any kind become a line feed, a
 * tab a space; never longer. */
MUST_CHECK enum err sanitise_example(struct arena *arena, struct slice text,
                                     struct slice *ret_text);
/* Returns the number of texts that became empty because they could not be made safe, in all threads
 * since the start. */
uint64_t sanitise_fallback_count(void);

#endif
