/*
 * feedback_wire.h: encodes a stored feedback event as errata.v1.FeedbackEvent.
 */
#ifndef ERRATA_SERVER_API_FEEDBACK_WIRE_H
#define ERRATA_SERVER_API_FEEDBACK_WIRE_H

#include "store/log.h"

#include <errata/v1/feedback_event.views.h>

/* Appends an event as field `field`: its facts and content, which together are the message. */
MUST_CHECK enum err feedback_wire_put(const struct event *event, uint32_t field,
                                      struct buffer *body);
/* Appends the event with the difference between `before` and `after`, and its retraction, which are
 * built in the arena. `view` is that of the event. */
MUST_CHECK enum err feedback_wire_put_whole(struct arena *arena, struct store_txn *txn,
                                            const struct event *event,
                                            const struct feedback_event_view *view, uint32_t field,
                                            struct buffer *body);

#endif
