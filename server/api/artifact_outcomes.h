/*
 * artifact_outcomes.h: the outcomes of an artifact as a message, for reports of several services.
 */
#ifndef ERRATA_SERVER_API_ARTIFACT_OUTCOMES_H
#define ERRATA_SERVER_API_ARTIFACT_OUTCOMES_H

#include "server/domain/artifacts/artifacts.h"

/* Encodes one side of a report as ArtifactOutcomes, in the arena; false if out of memory. */
MUST_CHECK bool artifact_outcomes_encode(struct arena *arena, const struct artifact_counts *counts,
                                         struct slice *ret_message);

#endif
