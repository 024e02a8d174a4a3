/*
 * feedback_wire.c: see feedback_wire.h.
 */
#include "server/api/feedback/feedback_wire.h"

#include "server/domain/events/retraction.h"
#include "server/domain/json/diff.h"
#include "store/base/wire.h"

#include <errata/v1/feedback_event.fields.h>

static enum err put(const struct event *event, struct slice more, uint32_t field,
                    struct buffer *body)
{
    size_t annotator_bytes = wire_varint_bytes(FEEDBACK_EVENT_ANNOTATOR_KIND_FIELD << 3) +
                             wire_varint_bytes(event->annotator);

    wire_put_header(body, field,
                    event->facts.size + event->content.size + more.size + annotator_bytes);
    wire_put_varint(body, FEEDBACK_EVENT_ANNOTATOR_KIND_FIELD, event->annotator);
    buffer_append(body, event->facts);
    buffer_append(body, event->content);
    buffer_append(body, more);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err feedback_wire_put(const struct event *event, uint32_t field, struct buffer *body)
{
    return put(event, slice_of(NULL, 0), field, body);
}

/* Appends the fields of the event's retraction, if it was retracted. */
static enum err put_retraction(struct store_txn *txn, const struct event *event,
                               struct buffer *more)
{
    struct retraction retraction;
    enum err err = retraction_read(txn, event->org, event->seq, &retraction);

    if (err != OK || retraction.seq == 0) {
        return err;
    }
    wire_put_timestamp(more, FEEDBACK_EVENT_RETRACTED_AT_FIELD, retraction.retracted_at_us);
    wire_put_bytes_given(more, FEEDBACK_EVENT_RETRACTED_BY_FIELD, retraction.retracted_by);
    wire_put_bytes_given(more, FEEDBACK_EVENT_RETRACTION_REASON_FIELD, retraction.reason);
    return OK;
}

enum err feedback_wire_put_whole(struct arena *arena, struct store_txn *txn,
                                 const struct event *event, const struct feedback_event_view *view,
                                 uint32_t field, struct buffer *body)
{
    struct buffer more;
    enum err err = OK;

    buffer_init(&more, arena, 0);
    err = diff_append(arena, FEEDBACK_EVENT_DIFF_FIELD, view->before_json, view->after_json, &more);
    if (err == OK) {
        err = put_retraction(txn, event, &more);
    }
    if (err == OK && !buffer_ok(&more)) {
        err = ERR_MEMORY;
    }
    return err != OK ? err : put(event, buffer_slice(&more), field, body);
}
