/*
 * applied_view.h: a feedback event as its rows are made from it, and as they are removed when it is retracted.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_APPLIED_VIEW_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_APPLIED_VIEW_H

#include "server/domain/events/feedback.h"

/* Reads an event, decides whether it is an example if its facts do not have it, and removes from its output what
 * reduction replaced. Borrowed from the event, or in the arena. ERR_CORRUPT for bytes that are not a
 * FeedbackEvent. */
MUST_CHECK enum err applied_view_read(struct arena *arena, const struct event *event,
                                      struct feedback_event_view *ret_view);

#endif
