/*
 * placeholders_wire.h: a request of ResolvePlaceholders as a value for the domain. ExplainExposure takes the same message.
 */
#ifndef ERRATA_SERVER_API_REVIEWS_PLACEHOLDERS_WIRE_H
#define ERRATA_SERVER_API_REVIEWS_PLACEHOLDERS_WIRE_H

#include "server/domain/reviews/placeholders.h"

#include <errata/v1/review_prompts.pb-c.h>

/* Reads all but `as_of`. Adds faults. */
MUST_CHECK enum err placeholders_wire_read(struct ctx *ctx,
                                           const Errata__V1__ResolvePlaceholdersRequest *message,
                                           struct placeholders_request *request);

#endif
