/*
 * log_deletion.c: see log_deletion.h. The mark's key is the name `deletion` and the organisation's id; its bytes are the id
 * of the organisation whose log records the deletion, and the number of the event.
 */
#include "store/log_deletion.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/meta.h"
#include "store/scan.h"

#define MARK_BYTES (UUID_BYTES + sizeof(uint64_t))

static struct key mark_prefix(void)
{
    return key_meta_global(SLICE(KEY_META_DELETION));
}

static struct key mark_key(struct org_id org)
{
    struct key key = mark_prefix();

    key_put_bytes(&key, org.uuid.bytes, UUID_BYTES);
    return key;
}

static enum err decode(struct slice key, struct slice value, struct log_deletion *ret_deletion)
{
    struct key prefix = mark_prefix();
    struct meta_record record = {.number = 0};
    enum err err = record_decode_meta(value, &record);

    if (err != OK || key.size != prefix.size + UUID_BYTES || record.bytes.size != MARK_BYTES) {
        return ERR_CORRUPT;
    }
    memcpy(ret_deletion->org.uuid.bytes, key.data + prefix.size, UUID_BYTES);
    memcpy(ret_deletion->audit_org.uuid.bytes, record.bytes.data, UUID_BYTES);
    ret_deletion->audit_seq = bytes_get_be64(record.bytes.data + UUID_BYTES);
    ret_deletion->row_count = record.number;
    return OK;
}

enum err log_deletion_read(struct store_txn *txn, struct org_id org,
                           struct log_deletion *ret_deletion)
{
    struct key key = mark_key(org);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_META, key_slice(&key), &value);

    return err != OK ? err : decode(key_slice(&key), value, ret_deletion);
}

enum err log_deletion_is_marked(struct store_txn *txn, struct org_id org, bool *ret_is_marked)
{
    struct key key = mark_key(org);

    return meta_exists(txn, &key, ret_is_marked);
}

enum err log_deletion_next(struct store_txn *txn, const struct uuid *after,
                           struct log_deletion *ret_deletion)
{
    struct key from = {.size = 0};
    struct scan_range range = {.table = TABLE_META, .prefix = mark_prefix(), .rows_max = 1};
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (after != NULL) {
        from = mark_key((struct org_id){.uuid = *after});
        range.after = key_slice(&from);
    }
    err = scan_init(&scan, txn, &range);
    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    if (err == OK) {
        err = decode(key, value, ret_deletion);
    }
    scan_deinit(&scan);
    return err;
}

enum err log_deletion_put(struct ctx *ctx, struct store_txn *txn,
                          const struct log_deletion *deletion)
{
    struct key key = mark_key(deletion->org);
    uint8_t bytes[MARK_BYTES];
    struct meta_record record = {.number = deletion->row_count,
                                 .bytes = slice_of(bytes, sizeof(bytes))};

    ASSERT(deletion->audit_seq != 0);
    ASSERT(!uuid_equal(deletion->org.uuid, deletion->audit_org.uuid));
    memcpy(bytes, deletion->audit_org.uuid.bytes, UUID_BYTES);
    bytes_put_be64(bytes + UUID_BYTES, deletion->audit_seq);
    return meta_put(ctx->arena, txn, &key, &record);
}

enum err log_deletion_end(struct store_txn *txn, struct org_id org)
{
    struct key key = mark_key(org);

    return store_del(txn, TABLE_META, key_slice(&key));
}

/* Reads the keys of the first rows of an organisation from a position: a deletion would invalidate the cursor. */
static enum err list_keys(struct store_txn *txn, struct org_id org,
                          const struct log_deletion_position *position, struct key *keys,
                          size_t keys_max, size_t *ret_count)
{
    const struct scan_range range = {.table = (enum store_table)position->table,
                                     .prefix = key_org(org),
                                     .after = key_slice(&position->after),
                                     .rows_max = (uint32_t)keys_max};
    struct scan scan = {.row_count = 0};
    size_t count = 0;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK && count < keys_max) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            keys[count].size = 0;
            key_put_bytes(&keys[count], key.data, key.size);
            count++;
        }
    }
    scan_deinit(&scan);
    *ret_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err delete_keys(struct store_txn *txn, enum store_table table, const struct key *keys,
                            size_t count)
{
    enum err err = OK;

    for (size_t i = 0; i < count && err == OK; i++) {
        err = store_del(txn, table, key_slice(&keys[i]));
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err log_deletion_delete_rows(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                  size_t rows_max, struct log_deletion_position *position,
                                  size_t *ret_count)
{
    struct key *keys = arena_alloc(ctx->arena, rows_max * sizeof(*keys));
    size_t total = 0;
    enum err err = keys != NULL ? OK : ERR_MEMORY;

    ASSERT(rows_max > 0 && rows_max <= LOG_DELETION_ROWS_MAX);
    while (err == OK && position->table < TABLE_COUNT && total < rows_max) {
        size_t count = 0;

        err = list_keys(txn, org, position, keys, rows_max - total, &count);
        if (err == OK) {
            err = delete_keys(txn, (enum store_table)position->table, keys, count);
        }
        total += count;
        if (total < rows_max) {
            position->table++; /* it has no more */
            position->after.size = 0;
        } else {
            position->after = keys[count - 1];
        }
    }
    *ret_count = total;
    return err;
}

enum err log_deletion_table_has_rows(struct store_txn *txn, struct org_id org,
                                     enum store_table table, bool *ret_has)
{
    const struct log_deletion_position position = {.table = table};
    struct key key;
    size_t count = 0;
    enum err err = list_keys(txn, org, &position, &key, 1, &count);

    *ret_has = count > 0;
    return err;
}

enum err log_deletion_has_rows(struct store_txn *txn, struct org_id org, bool *ret_has)
{
    bool has = false;
    enum err err = OK;

    for (size_t i = 0; i < TABLE_COUNT && err == OK && !has; i++) {
        err = log_deletion_table_has_rows(txn, org, (enum store_table)i, &has);
    }
    *ret_has = has;
    return err;
}
