/*
 * token_use.c: see token_use.h.
 */
#include "server/domain/admin/token_use.h"

#include "server/domain/admin/admin.h"
#include "store/base/bytes.h"
#include "store/meta.h"

static struct key use_key(uint32_t key_id)
{
    struct key key = key_meta_global(SLICE(KEY_META_TOKEN_USE));

    key_put_be32(&key, key_id);
    return key;
}

static enum err read_day(struct store_txn *txn, uint32_t key_id, uint64_t *ret_day)
{
    struct key key = use_key(key_id);
    struct meta_record record = {.number = 0};
    enum err err = meta_read(txn, &key, &record);

    *ret_day = record.number;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err token_use_record(struct ctx *ctx, struct store_txn *txn, uint32_t key_id, uint64_t day)
{
    struct key key = use_key(key_id);
    const struct meta_record record = {.number = day};
    struct token_record token;
    uint64_t stored_day = 0;
    enum err err = admin_read_token(txn, key_id, &token);

    if (err == OK) {
        err = read_day(txn, key_id, &stored_day);
    }
    if (err != OK || stored_day >= day) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    return meta_put(ctx->arena, txn, &key, &record);
}

enum err token_use_read(struct store_txn *txn, uint32_t key_id, int64_t *ret_day_us)
{
    uint64_t day = 0;
    enum err err = read_day(txn, key_id, &day);

    if (err == OK && day > INT64_MAX / TOKEN_USE_DAY_US) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_day_us = (int64_t)day * TOKEN_USE_DAY_US;
    }
    return err;
}

enum err token_use_is_stale(struct store_txn *txn, struct slice key, bool *ret_is_stale)
{
    struct key start = key_meta_global(SLICE(KEY_META_TOKEN_USE));
    struct token_record token;
    enum err err = OK;

    *ret_is_stale = false;
    if (key.size != start.size + sizeof(uint32_t) ||
        memcmp(key.data, start.bytes, start.size) != 0) {
        return OK;
    }
    err = admin_read_token(txn, bytes_get_be32(key.data + start.size), &token);
    *ret_is_stale = err == ERR_NOT_FOUND;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err token_use_delete(struct store_txn *txn, uint32_t key_id)
{
    struct key key = use_key(key_id);

    return store_del_if_present(txn, TABLE_META, key_slice(&key));
}
