/*
 * difference.h: compares the words of two queries, to decide whether the second one repeats the
 * first in other words or is about something else. "Flights to Oslo" and "flights to Bergen" are
 * similar as vectors, but not the same question.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_DIFFERENCE_H
#define ERRATA_SERVER_DOMAIN_CUES_DIFFERENCE_H

#include "server/domain/cues/reading.h"

/* Maximum words of a query that are compared; later ones are left out. */
#define DIFFERENCE_WORDS_MAX 48

/* Compares words that cue_lexicon_enter has entered. */
void difference_of(const struct cue_lexicon *lexicon, const struct cue_words *query,
                   const struct cue_words *message, struct difference *ret_difference);
/* Returns whether a word is a content word: not one of the most common words. */
bool difference_is_content(const struct cue_lexicon *lexicon, const struct cue_word *word);

#endif
