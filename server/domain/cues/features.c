/*
 * features.c: see features.h.
 */
#include "server/domain/cues/features.h"

static float capped(size_t count, size_t most)
{
    return (float)(count < most ? count : most) / (float)most;
}

/* Returns the shorter length divided by the longer one. */
static float ratio(size_t a, size_t b)
{
    size_t longer = a > b ? a : b;

    return longer == 0 ? 0 : (float)(a + b - longer) / (float)longer;
}

static bool has_cue(const struct reading *reading, enum cue_class class)
{
    return reading_cue(reading, class) != NULL;
}

void features_of(const struct reading *reading, const struct detection *detection,
                 float ret_features[FEATURE_COUNT])
{
    const struct difference *difference = &reading->difference;
    float similarity = detection->similarity;
    enum detect_row row = detection->row;

#define FEATURE(name, value) ret_features[FEATURE_##name] = (float)(value);
#include "server/domain/cues/features.def"
#undef FEATURE
}

const char *feature_name(enum feature feature)
{
    static const char *const names[] = {
#define FEATURE(name, value) #name,
#include "server/domain/cues/features.def"
#undef FEATURE
    };

    return names[feature];
}
