/*
 * calibration.h: the shown similarity of two texts. Cosines of different embedders are not comparable,
 * so a monotone map turns them into a score of which 0.8 means "the same" for the profile's purpose.
 * The maps are data (calibration.def), fitted with tests/bench/text_similarity.c.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_CALIBRATION_H
#define ERRATA_SERVER_DOMAIN_EMBED_CALIBRATION_H

#include "store/base/arena.h"

/* What texts are compared for. */
enum calibration_profile {
    CALIBRATION_QUERY, /* the same question in other words */
    CALIBRATION_FEEDBACK, /* comments on the same theme */
    CALIBRATION_STRICT, /* duplicates */
    CALIBRATION_COUNT
};

/* The highest shown score of texts with different numbers, in profile CALIBRATION_QUERY: below "the
 * same". */
#define CALIBRATION_VETO_SHOWN_MAX 0.75F
/* Numbers of a text that are compared. */
#define CALIBRATION_NUMBERS_MAX 64

/* Returns the shown score, 0 to 1, of a cosine by an embedder with or without a model. */
float calibration_show(enum calibration_profile profile, bool has_model, float cosine);
/* Compares the numbers in two texts, in any order: digits with a point or comma between them. A comma
 * is dropped, as are leading zeros. Fails only with ERR_MEMORY. */
MUST_CHECK enum err calibration_compare_numbers(struct arena *arena, struct slice a, struct slice b,
                                                bool *ret_differ);

#endif
