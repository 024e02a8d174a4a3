/*
 * artifact_outcomes.c: see artifact_outcomes.h.
 */
#include "server/api/artifact_outcomes.h"

#include <errata/v1/learning_service.views.h>

bool artifact_outcomes_encode(struct arena *arena, const struct artifact_counts *counts,
                              struct slice *ret_message)
{
    bool has_rate = counts->outcome_count > 0;
    const struct artifact_outcomes_view view = {
        .exposure_count = counts->exposure_count,
        .outcome_count = counts->outcome_count,
        .good_count = counts->outcome_count - counts->bad_count,
        .bad_count = counts->bad_count,
        .bad_rate = has_rate ? (double)counts->bad_count / (double)counts->outcome_count : 0,
        .has_bad_rate = has_rate,
    };

    return view_encode(&artifact_outcomes_view_type, &view, arena, ret_message);
}
