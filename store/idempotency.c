/*
 * idempotency.c: rows by (organisation, hour, hash of token, method and key). Each row has the
 * events that a write appended; its response is rebuilt from those. Old hours are removed a few
 * rows at a time, in the commits of other writes.
 */
#include "store/idempotency.h"

#include "store/backend_ops.h"
#include "store/base/bytes.h"
#include "store/records.h"
#include "store/work.h"

#define HOUR_US (3600ll * 1000000)
#define ORG_BYTES 16
/* Maximum rows that one call of idempotency_expire removes: their keys are on its stack. */
#define EXPIRE_ROWS_MAX 64

/* Hours since 1970; 0 for a clock before that. */
static uint32_t hour_of(int64_t now_us)
{
    return now_us < 0 ? 0 : (uint32_t)(now_us / HOUR_US);
}

bool idempotency_key_is_valid(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < 0x20 || text.data[i] > 0x7e) {
            return false;
        }
    }
    return text.size > 0 && text.size <= IDEMPOTENCY_KEY_BYTES_MAX;
}

struct event_idempotency idempotency_key_of(struct org_id org, uint32_t token_key_id,
                                            struct slice method, struct slice text,
                                            const struct sha256_digest *request_sha256)
{
    struct event_idempotency key = {.present = true, .org = org, .request_sha256 = *request_sha256};
    struct sha256_digest digest;
    uint8_t key_id[4];

    bytes_put_be32(key_id, token_key_id);

    /* The method has no NUL, so no two triples give the same bytes. */
    const struct slice pieces[] = {slice_of(key_id, sizeof(key_id)), method, slice_of("", 1), text};

    digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));
    memcpy(key.key_hash, digest.bytes, sizeof(key.key_hash));
    return key;
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

/* Moves to the row at or after a key, within the organisation; `ret_is_it`: it has this key. */
static enum err seek_row(struct store_txn *txn, const struct key *row, bool *ret_is_it,
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

void idempotency_begin(struct store_txn *txn, const struct idempotency_time *time)
{
    txn->key_time = (struct txn_key_time){time->is_known, time->now_us, time->ahead_counts};
}

/* Returns the last hour with rows, unless a clock was ahead: the clock may have been put back in
 * small steps. */
static uint32_t newest_hour(uint32_t now)
{
    return now + IDEMPOTENCY_HOURS_BACK;
}

/* Visits the hours that have rows, from a day ago, up to this one or all later ones. Each step is
 * at least an hour later, so it ends. */
enum err idempotency_find(struct ctx *ctx, struct store_txn *txn,
                          const struct event_idempotency *key, struct work_result *ret_result)
{
    const struct txn_key_time *time = &txn->key_time;
    uint32_t now = hour_of(time->is_set ? time->now_us : clock_wall_us(ctx->clock));
    uint32_t hour = now > IDEMPOTENCY_HOURS_BACK ? now - IDEMPOTENCY_HOURS_BACK : 0;
    uint32_t last = time->is_set && !time->ahead_counts ? newest_hour(now) : UINT32_MAX;

    while (hour < UINT32_MAX && hour <= last) {
        struct key row = key_idempotency(key->org, hour, key->key_hash);
        struct slice value = {NULL, 0};
        uint32_t found = 0;
        bool is_it = false;
        enum err err = seek_row(txn, &row, &is_it, &found, &value);

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

    if (result->count == 0 && uuid_equal(record.log_org, zero)) {
        record.log_org = key->org.uuid;
    }
    err = record_encode_idempotency(ctx->arena, &record, &bytes);
    return err != OK ? err : store_put(txn, TABLE_IDEMPOTENCY, key_slice(&row), bytes);
}

/* Returns the next organisation after sweep->org that has rows; ERR_NOT_FOUND after the last. */
static enum err next_org(struct store_txn *txn, struct idempotency_sweep *sweep)
{
    enum err err = store_next_org(txn, TABLE_IDEMPOTENCY, &sweep->org, &sweep->org);

    if (err == ERR_NOT_FOUND) {
        memset(&sweep->org, 0, sizeof(sweep->org)); /* the next call starts a new round */
    }
    return err;
}

/* The hours whose rows are kept. */
struct hours {
    uint32_t oldest;
    uint32_t newest;
};

/* Rows to be removed. */
struct expiring {
    struct key keys[EXPIRE_ROWS_MAX];
    size_t count;
    size_t limit;
};

/* Collects rows to be removed from one end of an organisation's, up to the first that is kept. */
static enum err collect_rows(struct store_txn *txn, struct org_id org, enum store_order order,
                             const struct hours *hours, struct expiring *expiring)
{
    struct key prefix = key_org(org);
    struct store_cursor cursor;
    enum err err = store_cursor_init(&cursor, txn, TABLE_IDEMPOTENCY, key_slice(&prefix),
                                     slice_of(NULL, 0), order);

    while (err == OK && expiring->count < expiring->limit) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        uint32_t hour = 0;

        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK && key.size != ORG_BYTES + sizeof(uint32_t) + KEY_HASH_BYTES) {
            err = ERR_CORRUPT;
        }
        if (err != OK) {
            break;
        }
        hour = bytes_get_be32(key.data + ORG_BYTES);
        if (hour >= hours->oldest && hour <= hours->newest) {
            break;
        }
        memcpy(expiring->keys[expiring->count].bytes, key.data, key.size);
        expiring->keys[expiring->count].size = key.size;
        expiring->count++;
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

void idempotency_time_update(struct idempotency_time *time, const struct clock *clock)
{
    int64_t now_us = clock_monotonic_us(clock);
    int64_t offset_us = clock_wall_us(clock) - now_us;
    int64_t step_us = offset_us - time->offset_us;

    if (!time->is_known) {
        time->quiet_until_us = now_us + IDEMPOTENCY_START_QUIET_US;
        time->distrust_until_us = now_us;
        time->ahead_until_us = now_us + IDEMPOTENCY_DOUBT_US;
        time->trusted_offset_us = offset_us;
    } else if (step_us > IDEMPOTENCY_JUMP_US) {
        time->distrust_until_us = now_us + IDEMPOTENCY_DOUBT_US;
    } else if (step_us < -IDEMPOTENCY_JUMP_US) {
        time->ahead_until_us = now_us + IDEMPOTENCY_DOUBT_US;
    }
    if (now_us >= time->distrust_until_us || offset_us < time->trusted_offset_us) {
        time->trusted_offset_us = offset_us;
    }
    time->is_known = true;
    time->offset_us = offset_us;
    time->now_us = now_us + time->trusted_offset_us;
    time->ahead_counts = now_us < time->ahead_until_us || now_us < time->distrust_until_us;
    time->is_quiet = now_us < time->quiet_until_us;
}

/* Collects rows from both ends of an organisation's hours, up to the limit. */
static enum err collect_both(struct store_txn *txn, struct org_id org,
                             const struct idempotency_time *time, struct expiring *expiring)
{
    uint32_t hour = hour_of(time->now_us);
    const struct hours from = {hour > IDEMPOTENCY_HOURS_KEPT ? hour - IDEMPOTENCY_HOURS_KEPT : 0,
                               UINT32_MAX};
    const struct hours to = {0, newest_hour(hour)};
    enum err err = collect_rows(txn, org, STORE_ASCENDING, &from, expiring);

    if (err == OK && !time->ahead_counts) {
        err = collect_rows(txn, org, STORE_DESCENDING, &to, expiring);
    }
    return err;
}

enum err idempotency_expire(struct store_txn *txn, const struct idempotency_time *time,
                            size_t limit, struct idempotency_sweep *sweep, size_t *ret_count)
{
    static const struct uuid zero;
    struct expiring expiring = {.limit = limit < EXPIRE_ROWS_MAX ? limit : EXPIRE_ROWS_MAX};
    struct org_id org = {sweep->org};
    enum err err = OK;

    *ret_count = 0;
    if (time->is_quiet) {
        return OK;
    }
    if (!uuid_equal(sweep->org, zero)) {
        err = collect_both(txn, org, time, &expiring);
    }
    for (size_t i = 0; i < expiring.count && err == OK; i++) {
        err = store_del(txn, TABLE_IDEMPOTENCY, key_slice(&expiring.keys[i]));
    }
    if (err == OK && expiring.count == 0) {
        err = next_org(txn, sweep);
        return err == ERR_NOT_FOUND ? OK : err;
    }
    *ret_count = expiring.count;
    return err;
}
