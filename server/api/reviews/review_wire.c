/*
 * review_wire.c: see review_wire.h.
 */
#include "server/api/reviews/review_wire.h"

#include "server/domain/events/retraction.h"
#include "store/base/wire.h"

#include <errata/v1/review.fields.h>

static enum err put(const struct event *event, struct slice more, uint32_t field,
                    struct buffer *body)
{
    wire_put_header(body, field, event->facts.size + event->content.size + more.size);
    buffer_append(body, event->facts);
    buffer_append(body, event->content);
    buffer_append(body, more);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err review_wire_put(const struct event *event, uint32_t field, struct buffer *body)
{
    return put(event, slice_of(NULL, 0), field, body);
}

enum err review_wire_put_whole(struct arena *arena, struct store_txn *txn,
                               const struct event *event, uint32_t field, struct buffer *body)
{
    struct retraction retraction;
    struct buffer more;
    enum err err = retraction_read(txn, event->org, event->seq, &retraction);

    buffer_init(&more, arena, 0);
    if (err == OK && retraction.seq != 0) {
        wire_put_timestamp(&more, REVIEW_RETRACTED_AT_FIELD, retraction.retracted_at_us);
        wire_put_bytes_given(&more, REVIEW_RETRACTED_BY_FIELD, retraction.retracted_by);
        wire_put_bytes_given(&more, REVIEW_RETRACTION_REASON_FIELD, retraction.reason);
    }
    if (err == OK && !buffer_ok(&more)) {
        err = ERR_MEMORY;
    }
    return err != OK ? err : put(event, buffer_slice(&more), field, body);
}
