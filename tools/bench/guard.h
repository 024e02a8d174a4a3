/*
 * guard.h: prevents a mix that writes from running on organisations in use, since events cannot be
 * removed from a log. This is not access control: the token has the rights.
 */
#ifndef ERRATA_TOOLS_BENCH_GUARD_H
#define ERRATA_TOOLS_BENCH_GUARD_H

#include "tools/bench/plan.h"

/* Maximum number of events read to find the first one with data. The events before it only record
 * that the organisation and its tokens were created. A log that starts with more of those counts as
 * used. */
#define GUARD_EVENTS_MAX 64

/* OK if no call of the mix writes to Errata, if --allow-writes is given, or if the organisation of each
 * token that the run uses has no data, or has first data that this program wrote (PRELOAD_ACTOR). A log
 * never changes at its beginning, so this holds for every later run too. ERR_INVALID if not, and if the
 * server does not say; ERR_UNAVAILABLE if it cannot be reached; with a sentence. */
MUST_CHECK enum err guard_check(struct ctx *ctx, const struct arguments *arguments,
                                const struct plan *plan);

#endif
