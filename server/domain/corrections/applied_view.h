/*
 * applied_view.h: a feedback event in the form from which its rows are made, and removed when it is retracted.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_APPLIED_VIEW_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_APPLIED_VIEW_H

#include "server/domain/events/feedback.h"

/* Reads an event, decides whether it is an example if its facts do not record that, and removes from its output
 * the members that reduction replaced. The result is borrowed from the event, or is in the arena. Returns
 * ERR_CORRUPT for bytes that are not a FeedbackEvent. */
MUST_CHECK enum err applied_view_read(struct arena *arena, const struct event *event,
                                      struct feedback_event_view *ret_view);

#endif
