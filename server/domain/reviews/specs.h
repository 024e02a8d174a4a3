/*
 * specs.h: the fields that a review names as missing, in the form in which they are stored: without control characters
 * and without white space at their ends, each once regardless of case.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_SPECS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_SPECS_H

#include "store/base/ctx.h"

/* Maximum fields of a review, and characters of each, as in the contract. */
#define REVIEW_SPECS_MAX 50
#define REVIEW_SPEC_CHARACTERS_MAX 100

/* Normalises `count` texts (valid UTF-8) into the encoded field of a Review, in the arena. Repeated ones count once, at
 * the place of the first, in the spelling of the last; empty ones are left out. Adds a fault for each that is too long,
 * and for too many. Fails only with ERR_MEMORY. */
MUST_CHECK enum err review_specs_normalise(struct ctx *ctx, struct slice path, char *const *texts,
                                           size_t count, struct slice *ret_run);

#endif
