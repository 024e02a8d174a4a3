/*
 * idempotency.c: rows by (organisation, hour, hash of token, method and key). Each row says which
 * events a write appended; the answer is made again from those. Old hours go a few rows at a time,
 * inside the commits of other writes.
 */
#include "store/idempotency.h"

#include "store/base/bytes.h"
#include "store/record.h"
#include "store/work.h"

#define HOUR_US (3600ll * 1000000)
#define ORG_BYTES 16
/* Rows that one call of idempotency_expire removes at most: their keys are on its stack. */
#define EXPIRE_ROWS_MAX 64

/* Hours since 1970; a clock before it stands still at 0. */
static uint32_t hour_of(int64_t now_us)
{
    return now_us < 0 ? 0 : (uint32_t)(now_us / HOUR_US);
}

static enum err read_row(struct slice value, const struct event_idempotency *key,
                         struct work_result *ret_result)
{
    struct idempotency_record record;
    enum err err = record_decode_idempotency(value, &record);

    if (err != OK) {
        return err;
    }
    if (memcmp(record.request_sha256.bytes, key->request_sha256.bytes, SHA256_BYTES) != 0) {
        return ERR_EXISTS;
    }
    ret_result->org.uuid = record.log_org;
    ret_result->first_seq = record.first_seq;
    ret_result->count = record.count;
    ret_result->repeated = true;
    return OK;
}

/* The row at or behind a key, within the organisation; `ret_is_it`: at it. */
static enum err seek(struct store_txn *txn, const struct key *row, bool *ret_is_it,
                     uint32_t *ret_hour, struct slice *ret_value)
{
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    enum err err =
        store_cursor_init(&cursor, txn, TABLE_IDEMPOTENCY, slice_of(row->bytes, ORG_BYTES),
                          key_slice(row), STORE_ASCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &key, ret_value);
    }
    if (err == OK && key.size != row->size) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_is_it = slice_equal(key, key_slice(row));
        *ret_hour = bytes_get_be32(key.data + ORG_BYTES);
    }
    store_cursor_deinit(&cursor);
    return err;
}

/* Goes over the hours that have rows, from a day ago on. Later ones too: a clock that was put back has
 * left rows in what is now the future. Each turn is an hour later, so they end. */
enum err idempotency_find(struct ctx *ctx, struct store_txn *txn,
                          const struct event_idempotency *key, struct work_result *ret_result)
{
    uint32_t now = hour_of(clock_wall_us(ctx->clock));
    uint32_t hour = now > IDEMPOTENCY_HOURS_BACK ? now - IDEMPOTENCY_HOURS_BACK : 0;

    while (hour < UINT32_MAX) {
        struct key row = key_idempotency(key->org, hour, key->key_hash);
        struct slice value = {NULL, 0};
        uint32_t found = 0;
        bool is_it = false;
        enum err err = seek(txn, &row, &is_it, &found, &value);

        if (err != OK) {
            return err;
        }
        if (is_it) {
            return read_row(value, key, ret_result);
        }
        hour = found > hour ? found : hour + 1;
    }
    return ERR_NOT_FOUND;
}

enum err idempotency_keep(struct ctx *ctx, struct store_txn *txn,
                          const struct event_idempotency *key, const struct work_result *result)
{
    return idempotency_keep_at(ctx, txn, key, result, clock_wall_us(ctx->clock));
}

enum err idempotency_keep_at(struct ctx *ctx, struct store_txn *txn,
                             const struct event_idempotency *key, const struct work_result *result,
                             int64_t time_us)
{
    static const struct uuid zero;
    struct key row = key_idempotency(key->org, hour_of(time_us), key->key_hash);
    struct idempotency_record record = {
        .request_sha256 = key->request_sha256,
        .log_org = result->org.uuid,
        .first_seq = result->first_seq,
        .count = result->count,
    };
    struct slice bytes = {NULL, 0};
    enum err err = OK;

    if (result->count == 0) {
        record.first_seq = 0;
        record.log_org = uuid_equal(record.log_org, zero) ? key->org.uuid : record.log_org;
    }
    err = record_encode_idempotency(ctx->arena, &record, &bytes);
    return err != OK ? err : store_put(txn, TABLE_IDEMPOTENCY, key_slice(&row), bytes);
}

/* The organisation behind sweep->org, round and round; ERR_NOT_FOUND where there is none at all. */
static enum err next_org(struct store_txn *txn, struct idempotency_sweep *sweep)
{
    struct key prefix = key_global_prefix();
    struct key from = key_organization_global(sweep->org);
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_ORGANIZATION, key_slice(&prefix),
                                     key_slice(&from), STORE_ASCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK && slice_equal(key, key_slice(&from))) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK && key.size != 2 * ORG_BYTES) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        memcpy(sweep->org.bytes, key.data + ORG_BYTES, sizeof(sweep->org.bytes));
    }
    store_cursor_deinit(&cursor);
    if (err == ERR_NOT_FOUND) {
        memset(&sweep->org, 0, sizeof(sweep->org)); /* The next call starts a new round. */
    }
    return err;
}

/* The keys of up to `limit` rows of an organisation that are older than `oldest`. */
static enum err collect_old(struct store_txn *txn, struct org_id org, uint32_t oldest, size_t limit,
                            struct key keys[EXPIRE_ROWS_MAX], size_t *ret_count)
{
    struct key prefix = key_org(org);
    struct store_cursor cursor;
    size_t count = 0;
    enum err err = store_cursor_init(&cursor, txn, TABLE_IDEMPOTENCY, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    while (err == OK && count < limit) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK && key.size != ORG_BYTES + sizeof(uint32_t) + RECORD_HASH_BYTES) {
            err = ERR_CORRUPT;
        }
        if (err != OK || bytes_get_be32(key.data + ORG_BYTES) >= oldest) {
            break;
        }
        memcpy(keys[count].bytes, key.data, key.size);
        keys[count].size = key.size;
        count++;
    }
    store_cursor_deinit(&cursor);
    *ret_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Compares the clock with the one that never jumps: true for a day after it was put ahead, and in a
 * program's first hour. */
static bool is_quiet(struct idempotency_sweep *sweep, const struct clock *clock)
{
    int64_t now_us = clock_monotonic_us(clock);
    int64_t offset_us = clock_wall_us(clock) - now_us;

    if (!sweep->has_offset) {
        sweep->quiet_until_us = now_us + IDEMPOTENCY_START_QUIET_US;
    } else if (offset_us - sweep->offset_us > IDEMPOTENCY_JUMP_US) {
        sweep->quiet_until_us = now_us + IDEMPOTENCY_JUMP_QUIET_US;
    }
    sweep->has_offset = true;
    sweep->offset_us = offset_us;
    return now_us < sweep->quiet_until_us;
}

enum err idempotency_expire(struct store_txn *txn, const struct clock *clock, size_t limit,
                            struct idempotency_sweep *sweep, size_t *ret_count)
{
    static const struct uuid zero;
    struct key keys[EXPIRE_ROWS_MAX];
    uint32_t hour = hour_of(clock_wall_us(clock));
    size_t count = 0;
    enum err err = OK;

    *ret_count = 0;
    if (is_quiet(sweep, clock) || hour <= IDEMPOTENCY_HOURS_KEPT) {
        return OK;
    }
    if (!uuid_equal(sweep->org, zero)) {
        struct org_id org = {sweep->org};

        err = collect_old(txn, org, hour - IDEMPOTENCY_HOURS_KEPT,
                          limit < EXPIRE_ROWS_MAX ? limit : EXPIRE_ROWS_MAX, keys, &count);
    }
    for (size_t i = 0; i < count && err == OK; i++) {
        err = store_del(txn, TABLE_IDEMPOTENCY, key_slice(&keys[i]));
    }
    if (err == OK && count == 0) {
        err = next_org(txn, sweep);
        return err == ERR_NOT_FOUND ? OK : err;
    }
    *ret_count = count;
    return err;
}
