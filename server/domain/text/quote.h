/*
 * quote.h: notes as they appear in a prompt: each sanitised, in quote marks that no sanitised text can
 * have (allowed.h), one below the other, and all together at most 2,000 characters. A reader of the
 * prompt can distinguish the quoted person's words from the prompt's, in any case.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_QUOTE_H
#define ERRATA_SERVER_DOMAIN_TEXT_QUOTE_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Code points of all notes of one quotation, without the marks. */
#define QUOTE_CHARACTERS_MAX 2000

/* A quotation that is being written. */
struct quote {
    struct buffer text; /* text written so far; allocated in its arena */
    size_t left_characters; /* remaining part of QUOTE_CHARACTERS_MAX */
    size_t fallbacks; /* notes omitted because they could not be made safe, for the caller's log */
};

void quote_init(struct quote *quote, struct arena *arena);
/* Adds a note, cut to what is left; one of which nothing is left adds nothing. Fails only with ERR_MEMORY. */
MUST_CHECK enum err quote_add(struct quote *quote, struct slice note);

#endif
