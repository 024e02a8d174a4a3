/*
 * marks_of_place.h: marks in a text that bind it to one place, time or person, by their form: paths, tickets, commits,
 * versions, colours, long numbers, names.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVALUATOR_MARKS_OF_PLACE_H
#define ERRATA_SERVER_DOMAIN_EVALUATOR_MARKS_OF_PLACE_H

#include "server/domain/lexicon/lexicon.h"

/* Returns the first mark, borrowed from the text; empty if there is none. The arena is used for the look-up of words
 * that may be written with a capital. */
struct slice place_mark_find(struct arena *arena, struct slice text);

#endif
