/*
 * state.h: which states a person may give an artifact. The table of all kinds (core.md, "artifact state"):
 *
 *   from             SHADOW   ACTIVE                RETIRED
 *   PROPOSED         SHADOW   ACTIVE, but by votes  REJECTED
 *   SHADOW           SHADOW   ACTIVE, but by votes  RETIRED
 *   ACTIVE           SHADOW   ACTIVE                RETIRED
 *   SUNSET_PROPOSED  SHADOW   ACTIVE                RETIRED
 *   RETIRED          SHADOW   ACTIVE, but by votes  RETIRED
 *   REJECTED         SHADOW   ACTIVE, but by votes  REJECTED
 *
 * An artifact of a kind that people vote about becomes ACTIVE by votes only.
 */
#ifndef ERRATA_SERVER_DOMAIN_ARTIFACTS_STATE_H
#define ERRATA_SERVER_DOMAIN_ARTIFACTS_STATE_H

#include "store/base/ctx.h"

#include <errata/v1/artifact.fields.h>

/* Decides the new state of an artifact if a person requests `wanted`. ERR_INVALID, naming the field
 * `state`, for a state that a person cannot set; ERR_PRECONDITION for one that only votes can set.
 * `has_votes`: people vote about artifacts of this kind. */
MUST_CHECK enum err artifact_state_decide(struct ctx *ctx, bool has_votes, enum artifact_state from,
                                          enum artifact_state wanted,
                                          enum artifact_state *ret_state);

#endif
