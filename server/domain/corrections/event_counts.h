/*
 * event_counts.h: the day's counters of a feedback event.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EVENT_COUNTS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EVENT_COUNTS_H

#include "server/domain/events/feedback.h"

/* Counts an event on its day by its type, and a correction's fields by their names. */
MUST_CHECK enum err event_counts_add(struct ctx *ctx, struct store_txn *txn,
                                     const struct event *event,
                                     const struct feedback_event_view *view);
/* Subtracts what event_counts_add added, and counts the event as retracted on the same day. */
MUST_CHECK enum err event_counts_retract(struct ctx *ctx, struct store_txn *txn,
                                         const struct event *event,
                                         const struct feedback_event_view *view);

#endif
