/*
 * backend.c: the rules of backend.h that apply to every back end: limits of keys and values,
 * access, invalidation of cursors, and ends of prefixes.
 */
#include "store/backend.h"

#include "store/backend_ops.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

/* The organisation id, with which each key begins. */
#define KEY_BYTES_MIN 16

struct table_info {
    const char *name;
    enum store_table_class class;
};

static const struct table_info tables[TABLE_COUNT] = {
#define TABLE(name, file_name, class) [TABLE_##name] = {file_name, STORE_##class},
#include <tables.def>
#undef TABLE
};

const char *store_table_name(enum store_table table)
{
    ASSERT(table < TABLE_COUNT);
    return tables[table].name;
}

enum store_table_class store_table_class(enum store_table table)
{
    ASSERT(table < TABLE_COUNT);
    return tables[table].class;
}

enum err store_begin(struct store_backend *backend, enum store_access access,
                     struct store_txn **ret_txn)
{
    struct store_txn *txn = NULL;
    enum err err = FAULT("store.begin") ? ERR_IO : backend->ops->begin(backend, access, &txn);

    if (err != OK) {
        return err;
    }
    txn->backend = backend;
    txn->access = access;
    txn->idle = false;
    memset(txn->changes, 0, sizeof(txn->changes));
    txn->change_count = 0;
    memset(&txn->log_write, 0, sizeof(txn->log_write));
    txn->log_head.is_known = false;
    arena_init(&txn->unpacked, TXN_UNPACKED_BYTES_MAX);
    txn->log_range_count = 0;
    *ret_txn = txn;
    return OK;
}

enum err store_commit(struct store_txn *take_txn)
{
    ASSERT(take_txn->access == STORE_WRITE);
    if (FAULT("store.commit")) {
        store_abort(take_txn);
        return ERR_IO;
    }
    arena_deinit(&take_txn->unpacked);
    return take_txn->backend->ops->commit(take_txn);
}

void store_abort(struct store_txn *take_txn)
{
    if (take_txn != NULL) {
        arena_deinit(&take_txn->unpacked);
        take_txn->backend->ops->abort(take_txn);
    }
}

void store_reset(struct store_txn *txn)
{
    ASSERT(txn->access == STORE_READ);
    if (!txn->idle) {
        txn->idle = true;
        arena_reset(&txn->unpacked);
        txn->backend->ops->reset(txn);
    }
}

enum err store_renew(struct store_txn *txn)
{
    enum err err = OK;

    ASSERT(txn->access == STORE_READ);
    if (!txn->idle) {
        return OK;
    }
    err = FAULT("store.renew") ? ERR_IO : txn->backend->ops->renew(txn);
    if (err == OK) {
        txn->idle = false;
        txn->log_head.is_known = false;
    }
    return err;
}

static void note_change(struct store_txn *txn, enum store_table table)
{
    txn->changes[table]++;
    txn->change_count++;
}

static bool key_fits(struct slice key)
{
    return key.size >= KEY_BYTES_MIN && key.size <= STORE_KEY_BYTES_MAX;
}

enum err store_get(struct store_txn *txn, enum store_table table, struct slice key,
                   struct slice *ret_value)
{
    ASSERT(!txn->idle);
    if (UNEXPECTED(!key_fits(key))) {
        return ERR_INTERNAL;
    }
    return FAULT("store.get") ? ERR_IO : txn->backend->ops->get(txn, table, key, ret_value);
}

enum err store_put(struct store_txn *txn, enum store_table table, struct slice key,
                   struct slice value)
{
    ASSERT(txn->access == STORE_WRITE);
    if (UNEXPECTED(!key_fits(key)) || UNEXPECTED(value.size > STORE_VALUE_BYTES_MAX)) {
        return ERR_INTERNAL;
    }
    note_change(txn, table);
    return FAULT("store.put") ? ERR_DISK_FULL : txn->backend->ops->put(txn, table, key, value);
}

enum err store_append(struct store_txn *txn, enum store_table table, struct slice key,
                      struct slice value)
{
    ASSERT(txn->access == STORE_WRITE);
    if (UNEXPECTED(!key_fits(key)) || UNEXPECTED(value.size > STORE_VALUE_BYTES_MAX)) {
        return ERR_INTERNAL;
    }
    note_change(txn, table);
    return FAULT("store.append") ? ERR_DISK_FULL
                                 : txn->backend->ops->append(txn, table, key, value);
}

enum err store_del(struct store_txn *txn, enum store_table table, struct slice key)
{
    ASSERT(txn->access == STORE_WRITE);
    if (UNEXPECTED(!key_fits(key))) {
        return ERR_INTERNAL;
    }
    note_change(txn, table);
    return FAULT("store.del") ? ERR_DISK_FULL : txn->backend->ops->del(txn, table, key);
}

enum err store_del_if_present(struct store_txn *txn, enum store_table table, struct slice key)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, table, key, &value);

    if (err == OK) {
        err = store_del(txn, table, key);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err store_stats(struct store_backend *backend, struct store_stats *ret_stats)
{
    return backend->ops->stats(backend, ret_stats);
}

enum err store_restore(struct store_backend *backend)
{
    return FAULT("store.restore") ? ERR_DISK_FULL : backend->ops->restore(backend);
}

enum err store_cursor_init(struct store_cursor *cursor, struct store_txn *txn,
                           enum store_table table, struct slice prefix, struct slice from,
                           enum store_order order)
{
    ASSERT(!txn->idle);
    cursor->handle = NULL;
    cursor->txn = txn;
    if (UNEXPECTED(!key_fits(prefix)) || UNEXPECTED(from.size > STORE_KEY_BYTES_MAX) ||
        UNEXPECTED(from.size > 0 && !slice_starts_with(from, prefix))) {
        return ERR_INTERNAL;
    }
    cursor->table = table;
    cursor->order = order;
    memcpy(cursor->prefix, prefix.data, prefix.size);
    cursor->prefix_bytes = prefix.size;
    if (from.size > 0) {
        memcpy(cursor->from, from.data, from.size);
    }
    cursor->from_bytes = from.size;
    cursor->started = false;
    cursor->changes = txn->changes[table];
    return FAULT("store.cursor") ? ERR_IO
                                 : txn->backend->ops->cursor_open(txn, table, &cursor->handle);
}

/* Returns the first bytes after all keys with the prefix; false if there are none (only 0xff). */
static bool prefix_end(const struct store_cursor *cursor, uint8_t end[STORE_KEY_BYTES_MAX],
                       size_t *ret_size)
{
    size_t size = cursor->prefix_bytes;

    memcpy(end, cursor->prefix, size);
    while (size > 0 && end[size - 1] == 0xff) {
        size--;
    }
    if (size == 0) {
        return false;
    }
    end[size - 1]++;
    *ret_size = size;
    return true;
}

/* Moves to the last row before `bytes`, or to `bytes` itself if `inclusive`. */
static enum err seek_last(struct store_cursor *cursor, struct slice bytes, bool inclusive,
                          struct slice *ret_key, struct slice *ret_value)
{
    const struct store_backend_ops *ops = cursor->txn->backend->ops;
    enum err err = ops->cursor_seek(cursor->handle, bytes, ret_key, ret_value);

    if (err == ERR_NOT_FOUND) {
        return ops->cursor_last(cursor->handle, ret_key, ret_value);
    }
    if (err != OK || (inclusive && slice_equal(*ret_key, bytes))) {
        return err;
    }
    return ops->cursor_prev(cursor->handle, ret_key, ret_value);
}

static enum err start(struct store_cursor *cursor, struct slice *ret_key, struct slice *ret_value)
{
    const struct store_backend_ops *ops = cursor->txn->backend->ops;
    struct slice from = slice_of(cursor->from, cursor->from_bytes);
    uint8_t end[STORE_KEY_BYTES_MAX];
    size_t end_bytes = 0;

    if (cursor->order == STORE_ASCENDING) {
        struct slice prefix = slice_of(cursor->prefix, cursor->prefix_bytes);

        return ops->cursor_seek(cursor->handle, from.size > 0 ? from : prefix, ret_key, ret_value);
    }
    if (from.size > 0) {
        return seek_last(cursor, from, true, ret_key, ret_value);
    }
    if (!prefix_end(cursor, end, &end_bytes)) {
        return ops->cursor_last(cursor->handle, ret_key, ret_value);
    }
    return seek_last(cursor, slice_of(end, end_bytes), false, ret_key, ret_value);
}

enum err store_cursor_next(struct store_cursor *cursor, struct slice *ret_key,
                           struct slice *ret_value)
{
    const struct store_backend_ops *ops = cursor->txn->backend->ops;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (UNEXPECTED(cursor->handle == NULL) ||
        UNEXPECTED(cursor->changes != cursor->txn->changes[cursor->table])) {
        return ERR_INTERNAL;
    }
    if (!cursor->started) {
        cursor->started = true;
        err = start(cursor, &key, &value);
    } else if (cursor->order == STORE_ASCENDING) {
        err = ops->cursor_next(cursor->handle, &key, &value);
    } else {
        err = ops->cursor_prev(cursor->handle, &key, &value);
    }
    if (err != OK) {
        return err;
    }
    if (!slice_starts_with(key, slice_of(cursor->prefix, cursor->prefix_bytes))) {
        return ERR_NOT_FOUND;
    }
    *ret_key = key;
    *ret_value = value;
    return OK;
}

void store_cursor_deinit(struct store_cursor *cursor)
{
    if (cursor->handle != NULL) {
        cursor->txn->backend->ops->cursor_close(cursor->txn, cursor->handle);
        cursor->handle = NULL;
    }
}

/* Returns the first bytes after every key of an organisation; false if there are none (only
 * 0xff). */
static bool org_end(struct uuid org, struct uuid *ret_end)
{
    for (size_t i = UUID_BYTES; i > 0; i--) {
        if (++org.bytes[i - 1] != 0) {
            *ret_end = org;
            return true;
        }
    }
    return false;
}

enum err store_next_org(struct store_txn *txn, enum store_table table, const struct uuid *after,
                        struct uuid *ret_org)
{
    const struct store_backend_ops *ops = txn->backend->ops;
    struct uuid from = {{0}};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    void *handle = NULL;
    enum err err = OK;

    ASSERT(!txn->idle);
    if (after != NULL && !org_end(*after, &from)) {
        return ERR_NOT_FOUND;
    }
    err = ops->cursor_open(txn, table, &handle);
    if (err != OK) {
        return err;
    }
    err = ops->cursor_seek(handle, slice_of(from.bytes, UUID_BYTES), &key, &value);
    ops->cursor_close(txn, handle);
    if (err != OK) {
        return err;
    }
    if (key.size < KEY_BYTES_MIN) {
        return ERR_CORRUPT;
    }
    memcpy(ret_org->bytes, key.data, UUID_BYTES);
    return OK;
}
