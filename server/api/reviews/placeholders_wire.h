/*
 * placeholders_wire.h: converts a request of ResolvePlaceholders to a value for the domain.
 * ExplainExposure contains the same message.
 */
#ifndef ERRATA_SERVER_API_REVIEWS_PLACEHOLDERS_WIRE_H
#define ERRATA_SERVER_API_REVIEWS_PLACEHOLDERS_WIRE_H

#include "server/domain/reviews/placeholders.h"

#include <errata/v1/review_prompts.pb-c.h>

/* Reads all members except `as_of`. Adds a fault for each invalid one. */
MUST_CHECK enum err placeholders_wire_read(struct ctx *ctx,
                                           const Errata__V1__ResolvePlaceholdersRequest *message,
                                           struct placeholders_request *request);

#endif
