/*
 * normalise.h: text as code points in Unicode's form NFKC, so that letters of one meaning are one:
 * full-width and mathematical forms, ligatures, single accents. It may grow or shrink a
 * text; it removes nothing but what does not fit any more.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_NORMALISE_H
#define ERRATA_SERVER_DOMAIN_TEXT_NORMALISE_H

#include "server/domain/text/marks.h"

/* More combining marks than this on one character are dropped: no language stacks so many, and what
 * puts them in order takes the square of their number. */
#define NORMALISE_STACKED_MAX 8

/* Marks above NORMALISE_STACKED_MAX, and those that have no character before them, go; false where
 * none did. */
bool normalise_drop_stacked(struct points *points);
/* Brings `points` to NFKC; false where they were in it. What is longer than `max` then, and does not
 * fit `spare` on the way, is cut off at the end. Both have room for `max` code points; the results may
 * be in either, so the two change places. */
bool normalise_nfkc(struct points *points, struct points *spare, size_t max);

#endif
