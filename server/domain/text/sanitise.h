/*
 * sanitise.h: the filter between text that people, documents or models wrote and a prompt, in three
 * profiles. Stored and answered data never passes it. Doing it again changes nothing. Text that cannot
 * be made safe (it is not UTF-8, it nests marks too deep, there is no memory for it) becomes the empty
 * text and is counted; the caller logs that.
 *
 * NOTE and GUIDELINE: NFKC; then code fences, role prefixes at line starts, chat markup, template
 * marks, ANSI escapes and every character that allowed.h does not name go; at most 500 characters are
 * left. A note is put into a prompt in quotes (quote.h), a guideline as it is.
 *
 * EXAMPLE, for the string leaves of few-shot examples: JSON is the wrapper, so text keeps its letters
 * and loses what acts: control, bidi and zero-width characters, ANSI escapes, template marks, chat
 * markup, role prefixes at line starts. A change of its rules raises the store's format version:
 * prepared examples are rebuilt.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_SANITISE_H
#define ERRATA_SERVER_DOMAIN_TEXT_SANITISE_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Removing marks may create new ones, so the rules are applied until nothing changes. Ordinary text
 * needs two rounds; a text that needs more than this becomes empty. */
#define SANITISE_ROUNDS_MAX 32
/* Each round takes time in proportion to the text, so one that is longer than this has fewer. */
#define SANITISE_LONG_CHARACTERS 8192
#define SANITISE_LONG_ROUNDS_MAX 4
/* Code points that are left of a note or a guideline. */
#define SANITISE_FIELD_CHARACTERS_MAX 500
/* The text after so many code points of a note or a guideline, as sent and as decomposed, is not
 * looked at: it could be among the first 500 only if marks were before it. */
#define SANITISE_FIELD_READ_MAX 4096

enum sanitise_profile {
    SANITISE_NOTE,
    SANITISE_GUIDELINE,
    SANITISE_EXAMPLE
};

/* The result of sanitising a text. */
struct sanitised {
    struct slice text; /* borrowed from what was given where nothing had to go, else in the arena */
    bool failed; /* the text could not be made safe, and is therefore empty */
};

struct sanitised sanitise_text(struct arena *arena, enum sanitise_profile profile,
                               struct slice text);
/* Profile NOTE with at most `characters_max` left, and never more than 500: the cut is between what a
 * reader takes for characters where that can be. */
struct sanitised sanitise_note(struct arena *arena, struct slice text, size_t characters_max);
/* Profile EXAMPLE for what is stored with an event, which must not depend on the memory there is:
 * fails with ERR_MEMORY. Line ends of any kind become a line feed, a tab a space; never longer. */
MUST_CHECK enum err sanitise_example(struct arena *arena, struct slice text,
                                     struct slice *ret_text);
/* Returns the number of texts that became empty because they could not be made safe, in all threads
 * since the start. */
uint64_t sanitise_fallback_count(void);

#endif
