/*
 * counters.c: counters by day; see counters.h. Callers choose the field names, so a day counts a
 * limited number of distinct names separately and all others together. A saturated counter stays
 * saturated: sums of non-negative numbers do not depend on the order of additions.
 */
#include "server/domain/counters/counters.h"

#include "server/domain/counters/keys.h"
#include "server/domain/counters/records.h"

#define DAY_US (24LL * 60 * 60 * 1000000)
#define OTHER SLICE("other")

uint32_t counters_day_of(int64_t created_at_us)
{
    return created_at_us > 0 ? (uint32_t)(created_at_us / DAY_US) : 0;
}

/* Returns the count of a row; 0 if there is no row. */
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

enum err counters_add(struct ctx *ctx, struct store_txn *txn, const struct counter_day *at,
                      enum counter_dimension dimension, struct slice name, uint64_t amount)
{
    struct key key = key_counter(at->org, at->day, dimension, name);
    struct counter_record record = {0, name};
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (amount == 0) {
        return OK;
    }
    err = read_count(txn, &key, &record.count);
    if (__builtin_add_overflow(record.count, amount, &record.count)) {
        record.count = UINT64_MAX;
    }
    if (err == OK) {
        err = record_encode_counter(ctx->arena, &record, &value);
    }
    return err != OK ? err : store_put(txn, TABLE_COUNTER, key_slice(&key), value);
}

enum err counters_subtract(struct ctx *ctx, struct store_txn *txn, const struct counter_day *at,
                           enum counter_dimension dimension, struct slice name, uint64_t amount)
{
    struct key key = key_counter(at->org, at->day, dimension, name);
    struct counter_record record = {0, name};
    struct slice value = {NULL, 0};
    enum err err = read_count(txn, &key, &record.count);

    if (err != OK || amount == 0 || record.count == UINT64_MAX) {
        return err;
    }
    if (record.count < amount) {
        return ERR_CORRUPT;
    }
    record.count -= amount;
    if (record.count == 0) {
        return store_del(txn, TABLE_COUNTER, key_slice(&key));
    }
    err = record_encode_counter(ctx->arena, &record, &value);
    return err != OK ? err : store_put(txn, TABLE_COUNTER, key_slice(&key), value);
}

/* Returns whether the day already counts this name, in either kind of correction. */
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
    *ret_counted = lines > 0 || fields > 0;
    return err;
}

enum err counters_add_field(struct ctx *ctx, struct store_txn *txn, const struct counter_day *at,
                            enum counter_dimension dimension, struct slice name)
{
    const struct slice no_name = {NULL, 0};
    struct key key = key_counter(at->org, at->day, COUNTER_FIELD_NAMES, no_name);
    uint64_t distinct = 0;
    bool counted = false;
    enum err err = is_counted(txn, at, name, &counted);

    if (err != OK || counted) {
        return err != OK ? err : counters_add(ctx, txn, at, dimension, name, 1);
    }
    err = read_count(txn, &key, &distinct);
    if (err != OK) {
        return err;
    }
    if (distinct >= COUNTERS_FIELD_NAMES_MAX) {
        return counters_add(ctx, txn, at, dimension, OTHER, 1);
    }
    err = counters_add(ctx, txn, at, COUNTER_FIELD_NAMES, no_name, 1);
    return err != OK ? err : counters_add(ctx, txn, at, dimension, name, 1);
}

enum err counters_subtract_field(struct ctx *ctx, struct store_txn *txn,
                                 const struct counter_day *at, enum counter_dimension dimension,
                                 struct slice name)
{
    const struct slice no_name = {NULL, 0};
    struct key key = key_counter(at->org, at->day, COUNTER_FIELD_NAMES, no_name);
    uint64_t distinct = 0;
    bool counted = false;
    enum err err = is_counted(txn, at, name, &counted);

    if (err == OK) {
        err = read_count(txn, &key, &distinct);
    }
    if (err != OK) {
        return err;
    }
    if (!counted) {
        return counters_subtract(ctx, txn, at, dimension, OTHER, 1);
    }
    err = counters_subtract(ctx, txn, at, dimension, name, 1);
    if (err == OK) {
        err = is_counted(txn, at, name, &counted);
    }
    if (err != OK || counted || distinct >= COUNTERS_FIELD_NAMES_MAX) {
        return err;
    }
    return counters_subtract(ctx, txn, at, COUNTER_FIELD_NAMES, no_name, 1);
}
