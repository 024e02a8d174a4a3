/*
 * veto.c: see veto.h.
 */
#include "server/domain/cues/veto.h"

#include <math.h>

/* Weights of the features, in thousandths; those that veto.def does not name are 0. */
static const int weights[FEATURE_COUNT] = {
#define BIAS(thousandths)
#define WEIGHT(name, thousandths) [FEATURE_##name] = (thousandths),
#include "server/domain/cues/veto.def"
#undef WEIGHT
#undef BIAS
};

static const int bias =
#define BIAS(thousandths) (thousandths)
#define WEIGHT(name, thousandths)
#include "server/domain/cues/veto.def"
#undef WEIGHT
#undef BIAS
    ;

bool veto_is_allowed(const struct detection *detection)
{
    return detection->row == DETECT_REPHRASED || detection->row == DETECT_ABANDONMENT ||
           (detection->row == DETECT_EXPLICIT && detection->is_unsure);
}

float veto_probability(const float features[FEATURE_COUNT])
{
    double sum = (double)bias / 1000;

    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        sum += (double)features[i] * (double)weights[i] / 1000;
    }
    return (float)(1 / (1 + exp(-sum)));
}

struct veto veto_apply(const struct reading *reading, struct detection *detection)
{
    struct veto veto = {.row = detection->row};
    float features[FEATURE_COUNT];

    features_of(reading, detection, features);
    veto.probability = veto_probability(features);
    if (veto_is_allowed(detection) && veto.probability < VETO_PROBABILITY_MIN) {
        veto.is_vetoed = true;
        detection->status = DETECT_NEUTRAL;
        detection->row = DETECT_NOTHING;
        detection->confidence = (float)DETECT_NOTHING_HUNDREDTHS / 100;
        detection->is_strong = false;
        detection->is_unsure = false;
    }
    return veto;
}
