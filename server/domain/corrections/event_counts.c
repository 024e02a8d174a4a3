/*
 * event_counts.c: see event_counts.h.
 */
#include "server/domain/corrections/event_counts.h"

#include "server/domain/counters/counters.h"

#include <stdio.h>

#define TYPE_TEXT_BYTES 16

typedef enum err change_counter(struct ctx *ctx, struct store_txn *txn,
                                const struct counter_day *at, enum counter_dimension dimension,
                                struct slice name, uint64_t amount);
typedef enum err change_field(struct ctx *ctx, struct store_txn *txn, const struct counter_day *at,
                              enum counter_dimension dimension, struct slice name);

/* The two ways to change the counters of an event. */
struct change {
    change_counter *counter;
    change_field *field;
};

static enum err change_counts(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct feedback_event_view *view, const struct change *change)
{
    enum counter_dimension dimension =
        view->event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED ? COUNTER_LINE_FIELD
                                                                          : COUNTER_FIELD_FIELD;
    struct counter_day at = counters_day(event->org, event->created_at_us);
    struct slice names = view->fields_changed.run;
    struct slice name = {NULL, 0};
    char type[TYPE_TEXT_BYTES] = {0};
    int size = snprintf(type, sizeof(type), "%d", (int)view->event_type);
    enum err err =
        change->counter(ctx, txn, &at, COUNTER_EVENT_TYPE, slice_of(type, (size_t)size), 1);

    if (err != OK || !feedback_is_correction(view->event_type)) {
        return err;
    }
    while (err == OK && view_next(&names, &name)) {
        err = change->field(ctx, txn, &at, dimension, name);
    }
    return err;
}

enum err event_counts_add(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                          const struct feedback_event_view *view)
{
    static const struct change add = {counters_add, counters_add_field};

    return change_counts(ctx, txn, event, view, &add);
}

enum err event_counts_retract(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                              const struct feedback_event_view *view)
{
    static const struct change subtract = {counters_subtract, counters_subtract_field};
    const struct slice no_name = {NULL, 0};
    struct counter_day at = counters_day(event->org, event->created_at_us);
    enum err err = change_counts(ctx, txn, event, view, &subtract);

    return err != OK ? err : counters_add(ctx, txn, &at, COUNTER_RETRACTED, no_name, 1);
}
