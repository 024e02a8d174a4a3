/*
 * watch_events.c: EventService/WatchEvents: streams the log as it grows. The only state of a
 * watcher is its position in the log, so a slow watcher costs nothing, and one that reconnects
 * continues where it was.
 */
#include "server/api/events/event_wire.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/event.fields.h>
#include <errata/v1/event_service.fields.h>
#include <errata/v1/event_service.handlers.h>

/* Maximum events examined in one turn, sent or not, so that a filter that matches nothing is
 * bounded. */
#define WATCH_ROWS_MAX 256

struct watch {
    uint64_t next_seq; /* number of the next event; 0: events recorded from now on */
    uint64_t until_seq; /* number of the last event; 0: the stream does not end */
    bool selects_kinds; /* otherwise all kinds are sent */
    bool kinds[EVENT_KIND_MAX + 1]; /* sent; by number */
};

enum err event_service_watch_events_start(struct event_service_watch_events_call *call)
{
    struct watch *watch = (struct watch *)arena_calloc(call->ctx->arena, 1, sizeof(*watch));

    if (watch == NULL) {
        return ERR_MEMORY;
    }
    watch->next_seq = call->request->from_seq;
    watch->until_seq = call->request->until_seq;
    for (size_t i = 0; i < call->request->n_kinds; i++) {
        enum event_kind kind = EVENT_KIND_UNSPECIFIED;

        if (UNEXPECTED(!event_kind_from_wire((int32_t)call->request->kinds[i], &kind))) {
            return ERR_INTERNAL; /* check_request has refused such a request */
        }
        if (kind == EVENT_KIND_UNSPECIFIED) {
            fault_add(call->ctx->fault, arena_printf(call->ctx->arena, "kinds[%zu]", i),
                      "UNSPECIFIED; expected a kind of event");
            return ERR_INVALID;
        }
        watch->kinds[kind] = true;
        watch->selects_kinds = true;
    }
    call->stream->state = watch;
    return OK;
}

static enum err send_event(struct service *service, struct store_txn *txn, struct stream *stream,
                           const struct event *event)
{
    struct buffer *reply =
        stream_reply_begin(stream, event->facts.size + event->content.size + 256);
    enum err err =
        event_wire_put(service->ctx->arena, txn, reply, WATCH_EVENTS_RESPONSE_EVENT_FIELD, event);

    return err != OK ? err : stream_reply_end(stream);
}

enum err event_service_watch_events_writable(struct event_service_watch_events_call *call)
{
    struct watch *watch = (struct watch *)call->stream->state;
    struct org_id org = call->org;
    struct log_head head;
    enum err err = log_read_head(call->txn, org, &head);

    if (err != OK) {
        return err;
    }
    if (watch->next_seq == 0) {
        watch->next_seq = head.last_seq + 1;
    }
    for (unsigned row = 0; row < WATCH_ROWS_MAX && stream_wants(call->stream); row++) {
        struct event event;

        if (watch->until_seq != 0 && watch->next_seq > watch->until_seq) {
            stream_finish(call->stream);
            return OK;
        }
        if (watch->next_seq > head.last_seq) {
            stream_wait_for_events(call->stream);
            return OK;
        }
        err = log_read(call->txn, org, watch->next_seq, &event);
        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        if (!watch->selects_kinds || watch->kinds[event.kind]) {
            err = send_event(call->service, call->txn, call->stream, &event);
            if (err != OK) {
                return err;
            }
        }
        watch->next_seq++;
    }
    return OK;
}

void event_service_watch_events_stopped(struct event_service_watch_events_call *call)
{
    call->stream->state = NULL; /* allocated in the call's arena */
}
