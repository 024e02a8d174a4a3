/*
 * feedback.h: a stored feedback event, read from its facts and content without a copy. Reads only
 * the members that rules need; other members are passed through unread.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_FEEDBACK_H
#define ERRATA_SERVER_DOMAIN_EVENTS_FEEDBACK_H

#include "server/domain/events/subject.h"
#include "server/domain/json/fields_changed.h"
#include "store/key.h"
#include "store/log.h"

#include <errata/v1/feedback_event.views.h>

/* ERR_CORRUPT for bytes that are not a FeedbackEvent. Content that was removed reads as absent. */
MUST_CHECK enum err feedback_view_read(const struct event *event,
                                       struct feedback_event_view *ret_view);
/* Returns whether the event is a correction of an extraction, and so may be an example. */
bool feedback_is_correction(enum feedback_event_type event_type);
/* Returns whether the event names both parts of an entity. */
static inline bool feedback_has_entity(const struct feedback_event_view *view)
{
    return view->entity_type.size > 0 && view->entity_id.size > 0;
}

/* Prefix of the feedback events that name a document or a draft order, and one row. Ids whose short hashes are
 * equal share a prefix, so a reader compares the id in the event. */
struct key key_feedback_subject_prefix(struct org_id org, enum subject_kind kind, struct slice id);
struct key key_feedback_subject(struct org_id org, enum subject_kind kind, struct slice id,
                                int64_t created_at_us, uint64_t seq);

#endif
