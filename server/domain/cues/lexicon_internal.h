/*
 * lexicon_internal.h: the parts of a lexicon while it is built: lexicon.c adds words, lexicon_build.c reads cues.def.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_LEXICON_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_CUES_LEXICON_INTERNAL_H

#include "server/domain/cues/lexicon.h"

#define CUE_LEXICON_BUCKETS 16384 /* twice the number of words */
#define CUE_LEXICON_TYPO_BUCKETS 65536 /* about ten for each cue word */

/* Returns the entry of a word, which is added if it is new; 0 if there is no room. The text is borrowed. */
uint16_t cue_lexicon_add(struct cue_lexicon *lexicon, struct slice word);
/* Enters all words of cues among those that are searched for typing errors. */
void cue_lexicon_add_typos(struct cue_lexicon *lexicon);
/* Splits off the next word of a text of words and spaces; the empty slice at its end. */
struct slice cue_lexicon_next(struct slice *text);

#endif
