/*
 * apply.c: applies a retraction: writes the row of the retracted event, and lets its capability
 * reverse its effect.
 */
#include "server/domain/events/retraction.h"
#include "store/base/assert.h"

#include <event_apply.h>
#include <event_retract.h>

/* Maximum memory for one retracted event: its row and its decoded members. */
#define EVENT_BYTES_MAX (4u << 20)

enum err retractions_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct retraction retraction = {.seq = 0};
    struct event retracted;
    struct arena arena;
    uint64_t earlier_seq = 0;
    enum err err = retraction_of_event(event, &retraction);

    ASSERT(retractions_applies(event->kind));
    arena_init(&arena, EVENT_BYTES_MAX);
    if (err == OK) {
        err = retraction_find(txn, event->org, retraction.event_seq, &earlier_seq);
    }
    if (err == OK && earlier_seq != 0) {
        err = ERR_CORRUPT; /* an event is retracted once */
    }
    if (err == OK) {
        err = log_read_copy(&arena, txn, event->org, retraction.event_seq, &retracted);
    }
    if (err == OK) {
        err = retraction_put(txn, event->org, retraction.event_seq, event->seq);
    }
    if (err == OK) {
        err = domain_retract(ctx, txn, event, &retracted);
    }
    arena_deinit(&arena);
    return err;
}
