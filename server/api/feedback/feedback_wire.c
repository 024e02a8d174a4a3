/*
 * feedback_wire.c: see feedback_wire.h.
 */
#include "server/api/feedback/feedback_wire.h"

#include "server/domain/json/diff.h"
#include "store/base/wire.h"

#include <errata/v1/feedback_event.fields.h>

static enum err put(const struct event *event, struct slice diff, uint32_t field,
                    struct buffer *body)
{
    size_t annotator_bytes = wire_varint_bytes(FEEDBACK_EVENT_ANNOTATOR_KIND_FIELD << 3) +
                             wire_varint_bytes(event->annotator);

    wire_put_header(body, field,
                    event->facts.size + event->content.size + diff.size + annotator_bytes);
    wire_put_varint(body, FEEDBACK_EVENT_ANNOTATOR_KIND_FIELD, event->annotator);
    buffer_append(body, event->facts);
    buffer_append(body, event->content);
    buffer_append(body, diff);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err feedback_wire_put(const struct event *event, uint32_t field, struct buffer *body)
{
    return put(event, slice_of(NULL, 0), field, body);
}

enum err feedback_wire_put_diff(struct arena *arena, const struct event *event,
                                const struct feedback_event_view *view, uint32_t field,
                                struct buffer *body)
{
    struct buffer diff;
    enum err err = OK;

    buffer_init(&diff, arena, 0);
    err = diff_append(arena, FEEDBACK_EVENT_DIFF_FIELD, view->before_json, view->after_json, &diff);
    return err != OK ? err : put(event, buffer_slice(&diff), field, body);
}
