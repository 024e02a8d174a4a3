/*
 * difference.h: compares the words of two queries: is the second one the first in other words, or about something
 * else? "Flights to Oslo" and "flights to Bergen" are similar as vectors, but not the same question.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_DIFFERENCE_H
#define ERRATA_SERVER_DOMAIN_CUES_DIFFERENCE_H

#include "server/domain/cues/reading.h"

/* Words of a query that are compared; later ones are left out. */
#define DIFFERENCE_WORDS_MAX 48

/* Compares entered words. */
void difference_of(const struct cue_lexicon *lexicon, const struct cue_words *query,
                   const struct cue_words *message, struct difference *ret_difference);
/* Returns whether a word has a meaning of its own: it is not one of the commonest. */
bool difference_is_content(const struct cue_lexicon *lexicon, const struct cue_word *word);

#endif
