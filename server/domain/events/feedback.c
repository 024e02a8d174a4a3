/*
 * feedback.c: see feedback.h.
 */
#include "server/domain/events/feedback.h"

bool feedback_is_correction(enum feedback_event_type event_type)
{
    return event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED ||
           event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED;
}

enum err feedback_view_read(const struct event *event, struct feedback_event_view *ret_view)
{
    enum err err =
        view_read_parts(&feedback_event_view_type, event->facts, event->content, ret_view);

    return err == OK && ret_view->fields_changed.count > FIELDS_CHANGED_MAX ? ERR_CORRUPT : err;
}
