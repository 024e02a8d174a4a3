/*
 * calibration.h: the shown similarity of two texts. Cosines of different embedders are not comparable,
 * so a monotone map turns them into a score of which 0.8 means "the same" for the profile's purpose.
 * The maps and the profiles' shares of a vector's parts are data (calibration.def), fitted by tools/fit-calibration.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_CALIBRATION_H
#define ERRATA_SERVER_DOMAIN_EMBED_CALIBRATION_H

#include "server/domain/embed/embedder.h"

/* The purpose of a comparison. */
enum calibration_profile {
    CALIBRATION_QUERY, /* the same question in other words */
    CALIBRATION_FEEDBACK, /* comments on the same theme */
    CALIBRATION_STRICT, /* duplicates */
    CALIBRATION_COUNT
};

/* The highest shown score of texts with different numbers or with opposite words, in profile CALIBRATION_QUERY: below
 * "the same". */
#define CALIBRATION_VETO_SHOWN_MAX 0.75F
/* Maximum numbers of a text that are compared. */
#define CALIBRATION_NUMBERS_MAX 64

/* The result of a comparison. */
struct calibration {
    float cosine; /* cosine by the profile's shares of the parts */
    float shown; /* from 0 to 1 */
    bool numbers_differ; /* set for CALIBRATION_QUERY only, like antonyms: `shown` was limited */
    struct antonyms antonyms;
};

/* Compares two texts by their vectors, which this embedder made. Fails only with ERR_MEMORY. */
MUST_CHECK enum err calibration_compare(const struct embedder *embedder, struct arena *arena,
                                        enum calibration_profile profile,
                                        const struct slice texts[2], const float *const vectors[2],
                                        struct calibration *ret_calibration);
/* Returns the cosine of two vectors of a kind by the profile's shares of their parts; 0 if one is zero. */
float calibration_cosine(enum calibration_profile profile, enum embedder_kind kind, const float *a,
                         const float *b);
/* Returns the shown score, 0 to 1, of such a cosine. */
float calibration_show(enum calibration_profile profile, enum embedder_kind kind, float cosine);
/* Compares the numbers in two texts, in any order: digits with a point or comma between them. A comma
 * is dropped, as are leading zeros. Fails only with ERR_MEMORY. */
MUST_CHECK enum err calibration_compare_numbers(struct arena *arena, struct slice a, struct slice b,
                                                bool *ret_differ);

#endif
