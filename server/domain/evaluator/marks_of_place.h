/*
 * marks_of_place.h: finds marks that bind a text to one place, time or person, by their form:
 * paths, tickets, commits, versions, colours, long numbers, names.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVALUATOR_MARKS_OF_PLACE_H
#define ERRATA_SERVER_DOMAIN_EVALUATOR_MARKS_OF_PLACE_H

#include "server/domain/lexicon/lexicon.h"

/* Returns the first mark, borrowed from the text; empty if there is none. The arena is used to look
 * up words that may be capitalised. */
struct slice place_mark_find(struct arena *arena, struct slice text);

#endif
