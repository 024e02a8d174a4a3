/*
 * signals.h: what a reviewer's words say about a piece of work, without a model: praise, a request, cues of generality
 * and of exceptions, and the concepts that they are about.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVALUATOR_SIGNALS_H
#define ERRATA_SERVER_DOMAIN_EVALUATOR_SIGNALS_H

#include "server/domain/lexicon/lexicon.h"

/* Fewer content words than this say nothing that a rule could be made of. */
#define SIGNALS_CONTENT_WORDS_MIN 3

/* A cue that was found: its words as written, folded; empty if there is none. */
struct comment_signals {
    struct slice praise;
    struct slice request;
    struct slice worry; /* takes praise back */
    struct slice general; /* always, every, prefer */
    struct slice modal; /* should, must: general too, if nothing is specific */
    struct slice specific; /* for now, only, line 12, a name, a path */
    uint32_t content_words;
    bool concepts[LEXICON_CONCEPTS_MAX];
    uint32_t concept_count;
};

/* Reads the signals of a comment of valid UTF-8. Fails only with ERR_MEMORY. */
MUST_CHECK enum err comment_signals_read(struct arena *arena, struct slice comment,
                                         struct comment_signals *ret_signals);

#endif
