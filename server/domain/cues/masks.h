/*
 * masks.h: hides words of a message that are not the user's own opinion: texts that an application
 * inserted, quotations, and titles that the previous turn named ("The Wrong Man").
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_MASKS_H
#define ERRATA_SERVER_DOMAIN_CUES_MASKS_H

#include "server/domain/cues/words.h"

/* Returns the message without the spans, each removed where it occurs and replaced by a line feed; borrowed if none
 * occurs. Fails only with ERR_MEMORY. */
MUST_CHECK enum err masks_remove_spans(struct arena *arena, struct slice message,
                                       const struct slice *spans, size_t count,
                                       struct slice *ret_message);
/* Masks quoted words, and runs of two or more words that `named`, a text of the previous turn,
 * quotes or capitalises like a title. */
void masks_set(struct cue_words *message, const struct cue_words *named);

#endif
