/*
 * normalise.h: converts text as code points to Unicode's form NFKC, which unifies letters of the
 * same meaning: full-width and mathematical forms, ligatures, separate accents. The text may become
 * longer or shorter; only text that no longer fits is removed.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_NORMALISE_H
#define ERRATA_SERVER_DOMAIN_TEXT_NORMALISE_H

#include "server/domain/text/marks.h"

/* Maximum combining marks of one character; further ones are dropped. No language uses as many, and
 * sorting them takes time proportional to the square of their number. */
#define NORMALISE_STACKED_MAX 8

/* Drops marks beyond NORMALISE_STACKED_MAX, and those without a character before them. Returns
 * false if there were none. */
bool normalise_drop_stacked(struct points *points);
/* Converts `points` to NFKC; returns false if it was in this form. Text beyond `max` code points,
 * also in the intermediate result in `spare`, is cut off. Both have room for `max` code points and
 * may be swapped. */
bool normalise_nfkc(struct points *points, struct points *spare, size_t max);

#endif
