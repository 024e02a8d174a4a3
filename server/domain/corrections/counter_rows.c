/*
 * counter_rows.c: see counter_rows.h. Callers invent field names, so a day counts a limited number of
 * distinct ones by name and the rest together.
 */
#include "server/domain/corrections/counter_rows.h"

#include "server/domain/corrections/apply.h"
#include "store/record.h"

#include <stdio.h>

#define DAY_US (24LL * 60 * 60 * 1000000)
#define OTHER SLICE("other")

/* Where an event's counters stand. */
struct counter_day {
    struct org_id org;
    uint32_t day;
};

/* The count of a row; 0 where there is none. */
static enum err read_count(struct store_txn *txn, const struct key *key, uint64_t *ret_count)
{
    struct counter_record record = {0};
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_COUNTER, key_slice(key), &value);

    if (err == OK) {
        err = record_decode_counter(value, &record);
    } else if (err == ERR_NOT_FOUND) {
        err = OK;
    }
    *ret_count = record.count;
    return err;
}

static enum err add_one(struct ctx *ctx, struct store_txn *txn, const struct counter_day *at,
                        enum counter_dimension dimension, struct slice name)
{
    struct key key = key_counter(at->org, at->day, dimension, name);
    struct counter_record record = {0, name};
    struct slice value = {NULL, 0};
    enum err err = read_count(txn, &key, &record.count);

    record.count++;
    if (err == OK) {
        err = record_encode_counter(ctx->arena, &record, &value);
    }
    return err != OK ? err : store_put(txn, TABLE_COUNTER, key_slice(&key), value);
}

static enum err is_counted(struct store_txn *txn, const struct counter_day *at, struct slice name,
                           bool *ret_counted)
{
    struct key line = key_counter(at->org, at->day, COUNTER_LINE_FIELD, name);
    struct key field = key_counter(at->org, at->day, COUNTER_FIELD_FIELD, name);
    uint64_t lines = 0;
    uint64_t fields = 0;
    enum err err = read_count(txn, &line, &lines);

    if (err == OK) {
        err = read_count(txn, &field, &fields);
    }
    *ret_counted = lines + fields > 0;
    return err;
}

static enum err add_field(struct ctx *ctx, struct store_txn *txn, const struct counter_day *at,
                          enum counter_dimension dimension, struct slice name)
{
    const struct slice no_name = {NULL, 0};
    struct key key = key_counter(at->org, at->day, COUNTER_FIELD_NAMES, no_name);
    uint64_t distinct = 0;
    bool counted = false;
    enum err err = is_counted(txn, at, name, &counted);

    if (err != OK || counted) {
        return err != OK ? err : add_one(ctx, txn, at, dimension, name);
    }
    err = read_count(txn, &key, &distinct);
    if (err != OK) {
        return err;
    }
    if (distinct >= APPLY_FIELD_NAMES_MAX) {
        return add_one(ctx, txn, at, dimension, OTHER);
    }
    err = add_one(ctx, txn, at, COUNTER_FIELD_NAMES, no_name);
    return err != OK ? err : add_one(ctx, txn, at, dimension, name);
}

enum err counter_rows_add(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                          const struct feedback_view *view)
{
    enum counter_dimension dimension = view->event_type == EVENT_TYPE_EXTRACTION_LINE_CORRECTED
                                           ? COUNTER_LINE_FIELD
                                           : COUNTER_FIELD_FIELD;
    struct counter_day at = {event->org, 0};
    char type[16] = {0};
    int size = snprintf(type, sizeof(type), "%d", (int)view->event_type);
    enum err err = OK;

    if (event->created_at_us > 0) {
        at.day = (uint32_t)(event->created_at_us / DAY_US);
    }
    err = add_one(ctx, txn, &at, COUNTER_EVENT_TYPE, slice_of(type, (size_t)size));
    if (!feedback_is_correction(view->event_type)) {
        return err;
    }
    for (size_t i = 0; i < view->fields.count && err == OK; i++) {
        err = add_field(ctx, txn, &at, dimension, view->fields.names[i]);
    }
    return err;
}
