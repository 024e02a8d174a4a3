/*
 * features.h: a message as numbers, for models that are fitted to labelled messages.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_FEATURES_H
#define ERRATA_SERVER_DOMAIN_CUES_FEATURES_H

#include "server/domain/cues/detect.h"

enum feature {
#define FEATURE(name, value) FEATURE_##name,
#include "server/domain/cues/features.def"
#undef FEATURE
    FEATURE_COUNT
};

/* Writes FEATURE_COUNT numbers, from 0 to about 1 each. `detection` is the table's result for the same reading. */
void features_of(const struct reading *reading, const struct detection *detection,
                 float ret_features[FEATURE_COUNT]);
/* Returns the name of a feature, a literal. */
const char *feature_name(enum feature feature);

#endif
