/*
 * signals.h: extracts signals from a reviewer's comment without a model: praise, requests, cues of
 * generality and of exceptions, and concepts.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVALUATOR_SIGNALS_H
#define ERRATA_SERVER_DOMAIN_EVALUATOR_SIGNALS_H

#include "server/domain/lexicon/lexicon.h"

/* Minimum number of content words from which a rule can be made. */
#define SIGNALS_CONTENT_WORDS_MIN 3

/* A cue that was found: its words as written, folded; empty if there is none. */
struct comment_signals {
    struct slice praise;
    struct slice request;
    struct slice worry; /* cancels praise */
    struct slice general; /* always, every, prefer */
    struct slice modal; /* should, must: also general, unless something is specific */
    struct slice specific; /* for now, only, line 12, a name, a path */
    uint32_t content_words;
    bool concepts[LEXICON_CONCEPTS_MAX];
    uint32_t concept_count;
};

/* Reads the signals of a comment of valid UTF-8. Fails only with ERR_MEMORY. */
MUST_CHECK enum err comment_signals_read(struct arena *arena, struct slice comment,
                                         struct comment_signals *ret_signals);

#endif
