/*
 * annotators.h: reads the kinds of annotators that a request lists. Shared by requests for examples and settings.
 */
#ifndef ERRATA_SERVER_API_ANNOTATORS_H
#define ERRATA_SERVER_API_ANNOTATORS_H

#include "server/domain/events/annotator_kinds.h"
#include "store/base/ctx.h"

#include <errata/v1/annotator_kind.pb-c.h>

/* Returns the set of the listed kinds (annotator_kinds.h), and 0 if the list is empty. Adds each UNSPECIFIED to
 * ctx->fault as an element of the list `path`. Fails only with ERR_INTERNAL, for a number that check_request refuses. */
MUST_CHECK enum err annotators_read(struct ctx *ctx, const char *path,
                                    const Errata__V1__AnnotatorKind *kinds, size_t count,
                                    uint32_t *ret_kinds);

#endif
