/*
 * quote.h: notes as they appear in a prompt: each sanitised, in quote marks that sanitised text
 * cannot contain (allowed.h), one per line, at most 2,000 characters in total. So quoted text can
 * always be distinguished from the prompt's own text.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_QUOTE_H
#define ERRATA_SERVER_DOMAIN_TEXT_QUOTE_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Maximum code points of all notes of one quotation, without the quote marks. */
#define QUOTE_CHARACTERS_MAX 2000

/* A quotation that is being written. */
struct quote {
    struct buffer text; /* text written so far; allocated in its arena */
    size_t left_characters; /* remaining part of QUOTE_CHARACTERS_MAX */
    bool is_cut; /* a note was too long */
    size_t fallbacks; /* notes omitted because they could not be made safe, for the caller's log */
};

void quote_init(struct quote *quote, struct arena *arena);
/* Adds a note, cut to the remaining room; a note that becomes empty adds nothing. Fails only with
 * ERR_MEMORY. */
MUST_CHECK enum err quote_add(struct quote *quote, struct slice note);

#endif
