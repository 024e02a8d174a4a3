/*
 * match.h: finds the cues of a message. At each word, every cue that may begin with it is tried.
 * All alternatives of a cue are tracked at once, one bit each; the time grows with the number of
 * words and of the cues that share a first word.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_MATCH_H
#define ERRATA_SERVER_DOMAIN_CUES_MATCH_H

#include "server/domain/cues/lexicon.h"

/* Maximum cues of a message that are kept; a message of a sentence has one or two. */
#define CUE_HITS_MAX 64
/* Maximum words of a cue, including its gaps and repeated elements. */
#define CUE_SPAN_MAX 16
/* Maximum phrases that an organisation adds to the cues. */
#define CUE_EXTRAS_MAX 200

/* A cue that an organisation added. */
struct extra_cue {
    enum cue_class class;
    struct slice phrase; /* valid UTF-8 */
};

/* A cue that was found. */
struct cue_hit {
    enum cue_class class;
    struct slice pattern; /* pattern of the cue, or the phrase of an extra one */
    size_t from; /* first word */
    size_t to; /* index after the last word */
};

struct cue_hits {
    struct cue_hit items[CUE_HITS_MAX];
    size_t count;
};

/* Finds the cues of entered words (cue_lexicon_enter) that no mask covers, in the order of their first words. */
void cues_find(const struct cue_lexicon *lexicon, const struct cue_words *words,
               struct cue_hits *ret_hits);
/* Adds the phrases of extra cues. Fails only with ERR_MEMORY. */
MUST_CHECK enum err cues_find_extras(struct arena *arena, const struct cue_lexicon *lexicon,
                                     const struct cue_words *words, const struct extra_cue *extras,
                                     size_t count, struct cue_hits *hits);
/* Returns the first hit of a class, or NULL. */
const struct cue_hit *cues_first(const struct cue_hits *hits, enum cue_class class);

#endif
