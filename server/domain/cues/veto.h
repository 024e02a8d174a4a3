/*
 * veto.h: a small logistic model in addition to the table (detect.h). It computes the probability
 * that a message rejects the previous answer, and may change a weak rejection of the table to
 * NEUTRAL, nothing else. Its weights (veto.def) are fitted to labelled messages by
 * tools/fit-feedback.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_VETO_H
#define ERRATA_SERVER_DOMAIN_CUES_VETO_H

#include "server/domain/cues/features.h"

/* A weak rejection that is less probable than this becomes NEUTRAL: a threshold of one half also
 * changed correct rejections. */
#define VETO_PROBABILITY_MIN 0.4F

/* The model's result for a detection. */
struct veto {
    float probability; /* probability that the message rejects the answer, 0 to 1 */
    bool is_vetoed; /* the detection was changed to NEUTRAL */
    enum detect_row row; /* row of the table before the veto */
};

/* Returns whether a detection may be changed to NEUTRAL: rows 2 and 3, and row 1 by a weak cue. */
bool veto_is_allowed(const struct detection *detection);
/* Computes the probability from the features of the table's result. For a detection that is not a
 * weak rejection it is informative only. */
float veto_probability(const float features[FEATURE_COUNT]);
/* Applies the model to the table's result for the same reading. The cue that fired is kept. */
struct veto veto_apply(const struct reading *reading, struct detection *detection);

#endif
