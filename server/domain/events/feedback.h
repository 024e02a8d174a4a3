/*
 * feedback.h: a stored feedback event, read from its facts and content without a copy. For rules that need
 * its members; what is only passed through is not read.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_FEEDBACK_H
#define ERRATA_SERVER_DOMAIN_EVENTS_FEEDBACK_H

#include "server/domain/json/fields_changed.h"
#include "store/log.h"

#include <errata/v1/feedback_event.views.h>

/* ERR_CORRUPT for bytes that are not a FeedbackEvent. Content that was removed reads as absent. */
MUST_CHECK enum err feedback_view_read(const struct event *event,
                                       struct feedback_event_view *ret_view);
/* The event counts as an example: it is a correction of an extraction. */
bool feedback_is_correction(enum feedback_event_type event_type);
/* Both parts of an entity are named. */
static inline bool feedback_has_entity(const struct feedback_event_view *view)
{
    return view->entity_type.size > 0 && view->entity_id.size > 0;
}

#endif
