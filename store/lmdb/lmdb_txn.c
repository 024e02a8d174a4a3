/*
 * lmdb_txn.c: transactions and cursors. A read transaction is kept and renewed; it keeps one cursor
 * per table, so that a lookup needs a renew, a seek and its steps, and no malloc. A second cursor
 * on the same table at the same time is allocated and freed. After an error LMDB's transaction can
 * only be aborted: LMDB fails every later call on it.
 */
#include "store/base/assert.h"
#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_internal.h"

#include <stdlib.h>

/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see lmdb_internal.h */
_Thread_local volatile sig_atomic_t lmdb_inside;

bool store_lmdb_is_inside(void)
{
    return lmdb_inside != 0;
}

static struct lmdb_backend *lmdb_backend(struct store_backend *backend)
{
    return (struct lmdb_backend *)backend;
}

static struct lmdb_txn *lmdb_txn(struct store_txn *txn)
{
    return (struct lmdb_txn *)txn;
}

static enum err translate(struct store_txn *txn, int code)
{
    return code == MDB_SUCCESS ? OK : lmdb_translate(lmdb_backend(txn->backend), code);
}

static MDB_val to_val(struct slice bytes)
{
    MDB_val val;

    val.mv_size = bytes.size;
    val.mv_data =
        (void *)(uintptr_t)bytes.data; /* LMDB only reads it, but does not declare it const */
    return val;
}

static struct slice to_slice(MDB_val val)
{
    return slice_of(val.mv_data, val.mv_size);
}

static enum err lmdb_begin(struct store_backend *backend, enum store_access access,
                           struct store_txn **ret_txn)
{
    struct lmdb_backend *lmdb = lmdb_backend(backend);
    enum err err = access == STORE_WRITE ? lmdb_settle(lmdb) : OK;
    struct lmdb_txn *txn = NULL;
    int code = MDB_SUCCESS;

    if (err != OK) {
        return err;
    }
    txn = calloc(1, sizeof(*txn));
    if (txn == NULL) {
        return ERR_MEMORY;
    }
    code = LMDB_INSIDE(
        mdb_txn_begin(lmdb->env, NULL, access == STORE_READ ? MDB_RDONLY : 0, &txn->mdb));
    if (code != MDB_SUCCESS) {
        free(txn);
        return lmdb_translate(lmdb, code);
    }
    *ret_txn = &txn->txn;
    return OK;
}

static void close_cursors(struct lmdb_txn *txn)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        ASSERT(!txn->cursors[i].used);
        if (txn->cursors[i].cursor != NULL) {
            mdb_cursor_close(txn->cursors[i].cursor);
        }
    }
}

/* Detects a panic: after a failed write of the meta page LMDB refuses all transactions, but reports
 * that only to the next one. */
static void look_for_panic(struct lmdb_backend *lmdb)
{
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &txn);

    if (code == MDB_SUCCESS) {
        mdb_txn_abort(txn);
    } else if (code == MDB_PANIC) {
        atomic_store(&lmdb->broken, true);
    }
}

static enum err lmdb_commit(struct store_txn *take_txn)
{
    struct lmdb_backend *lmdb = lmdb_backend(take_txn->backend);
    struct lmdb_txn *txn = lmdb_txn(take_txn);
    int code = MDB_SUCCESS;
    enum err err = OK;

    close_cursors(txn);
    if (!lmdb->writes_lost && store_lmdb_lost_file(take_txn->backend)) {
        mdb_txn_abort(txn->mdb);
        free(txn);
        return ERR_IO;
    }
    code = LMDB_INSIDE(mdb_txn_commit(txn->mdb));
    free(txn);
    if (code == MDB_SUCCESS) {
        return OK;
    }
    err = lmdb_translate(lmdb, code);
    look_for_panic(lmdb);
    if (atomic_load(&lmdb->broken)) {
        return ERR_UNAVAILABLE;
    }
    if (err == ERR_DISK_FULL) {
        disk_give_up_reserve(lmdb->reserve_path);
    }
    return err;
}

static void lmdb_abort(struct store_txn *take_txn)
{
    struct lmdb_txn *txn = lmdb_txn(take_txn);

    close_cursors(txn);
    mdb_txn_abort(txn->mdb);
    free(txn);
}

static void lmdb_reset(struct store_txn *txn)
{
    mdb_txn_reset(lmdb_txn(txn)->mdb);
}

static enum err lmdb_renew(struct store_txn *txn)
{
    lmdb_txn(txn)->generation++;
    return translate(txn, mdb_txn_renew(lmdb_txn(txn)->mdb));
}

/* Opens the cursor, or renews it for the transaction's newest snapshot. */
static int refresh_cursor(struct lmdb_txn *txn, MDB_dbi dbi, struct lmdb_cursor *cursor)
{
    int code = MDB_SUCCESS;

    if (cursor->cursor == NULL) {
        code = LMDB_INSIDE(mdb_cursor_open(txn->mdb, dbi, &cursor->cursor));
    } else if (cursor->generation != txn->generation) {
        code = LMDB_INSIDE(mdb_cursor_renew(txn->mdb, cursor->cursor));
    }
    cursor->generation = txn->generation;
    return code;
}

/* Finds a row. A read transaction uses the cursor that it keeps for the table: a key on the page of the last one is found
 * without descending the tree again. */
static int find_row(struct store_txn *txn, enum store_table table, MDB_val *key, MDB_val *ret_value)
{
    MDB_dbi dbi = lmdb_backend(txn->backend)->tables[table];
    struct lmdb_txn *lmdb = lmdb_txn(txn);
    struct lmdb_cursor *cursor = &lmdb->cursors[table];
    int code = MDB_SUCCESS;

    if (txn->access == STORE_WRITE || cursor->used) {
        return LMDB_INSIDE(mdb_get(lmdb->mdb, dbi, key, ret_value));
    }
    code = refresh_cursor(lmdb, dbi, cursor);
    return code == MDB_SUCCESS
               ? LMDB_INSIDE(mdb_cursor_get(cursor->cursor, key, ret_value, MDB_SET))
               : code;
}

static enum err lmdb_get(struct store_txn *txn, enum store_table table, struct slice key,
                         struct slice *ret_value)
{
    MDB_val found = {0, NULL};
    MDB_val wanted = to_val(key);
    int code = find_row(txn, table, &wanted, &found);

    if (code != MDB_SUCCESS) {
        return translate(txn, code);
    }
    *ret_value = to_slice(found);
    return OK;
}

static enum err lmdb_put(struct store_txn *txn, enum store_table table, struct slice key,
                         struct slice value)
{
    MDB_dbi dbi = lmdb_backend(txn->backend)->tables[table];
    MDB_val new_key = to_val(key);
    MDB_val new_value = to_val(value);

    return translate(txn, LMDB_INSIDE(mdb_put(lmdb_txn(txn)->mdb, dbi, &new_key, &new_value, 0)));
}

/* LMDB fills pages completely if a key goes after all others of the table. That applies only to the
 * last organisation; keys of others are put as usual. */
static enum err lmdb_append(struct store_txn *txn, enum store_table table, struct slice key,
                            struct slice value)
{
    MDB_dbi dbi = lmdb_backend(txn->backend)->tables[table];
    MDB_val new_key = to_val(key);
    MDB_val new_value = to_val(value);
    int code = LMDB_INSIDE(mdb_put(lmdb_txn(txn)->mdb, dbi, &new_key, &new_value, MDB_APPEND));

    if (code == MDB_KEYEXIST) {
        return lmdb_put(txn, table, key, value);
    }
    return translate(txn, code);
}

static enum err lmdb_del(struct store_txn *txn, enum store_table table, struct slice key)
{
    MDB_dbi dbi = lmdb_backend(txn->backend)->tables[table];
    MDB_val old = to_val(key);

    return translate(txn, LMDB_INSIDE(mdb_del(lmdb_txn(txn)->mdb, dbi, &old, NULL)));
}

static enum err lmdb_cursor_open(struct store_txn *txn, enum store_table table, void **ret_handle)
{
    struct lmdb_txn *lmdb = lmdb_txn(txn);
    struct lmdb_cursor *cursor = &lmdb->cursors[table];
    MDB_dbi dbi = lmdb_backend(txn->backend)->tables[table];
    bool kept = !cursor->used;
    int code = MDB_SUCCESS;

    if (!kept) {
        cursor = calloc(1, sizeof(*cursor));
        if (cursor == NULL) {
            return ERR_MEMORY;
        }
    }
    cursor->kept = kept;
    cursor->lmdb = lmdb_backend(txn->backend);
    code = refresh_cursor(lmdb, dbi, cursor);
    if (code != MDB_SUCCESS) {
        if (!kept) {
            free(cursor);
        }
        return translate(txn, code);
    }
    cursor->used = true;
    *ret_handle = cursor;
    return OK;
}

static void lmdb_cursor_close(struct store_txn *txn, void *handle)
{
    struct lmdb_cursor *cursor = handle;

    cursor->used = false;
    if (txn->access == STORE_WRITE || !cursor->kept) {
        mdb_cursor_close(cursor->cursor);
        cursor->cursor = NULL;
    }
    if (!cursor->kept) {
        free(cursor);
    }
}

static enum err move_cursor(struct lmdb_cursor *cursor, MDB_val *key, MDB_cursor_op op,
                            struct slice *ret_key, struct slice *ret_value)
{
    MDB_val value = {0, NULL};
    int code = LMDB_INSIDE(mdb_cursor_get(cursor->cursor, key, &value, op));

    if (__builtin_expect(code != MDB_SUCCESS, 0)) {
        return lmdb_translate(cursor->lmdb, code);
    }
    *ret_key = to_slice(*key);
    *ret_value = to_slice(value);
    return OK;
}

static enum err lmdb_cursor_seek(void *handle, struct slice key, struct slice *ret_key,
                                 struct slice *ret_value)
{
    MDB_val wanted = to_val(key);

    return move_cursor(handle, &wanted, MDB_SET_RANGE, ret_key, ret_value);
}

static enum err lmdb_cursor_last(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    MDB_val key = {0, NULL};

    return move_cursor(handle, &key, MDB_LAST, ret_key, ret_value);
}

static enum err lmdb_cursor_next(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    MDB_val key = {0, NULL};

    return move_cursor(handle, &key, MDB_NEXT, ret_key, ret_value);
}

static enum err lmdb_cursor_prev(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    MDB_val key = {0, NULL};

    return move_cursor(handle, &key, MDB_PREV, ret_key, ret_value);
}

/* Reads the snapshot of a slot, in decimal at the end of its line; a `-` means none. */
static bool read_snapshot(const char *line, uint64_t *ret_txn_id)
{
    size_t end = strlen(line);
    uint64_t value = 0;
    uint64_t unit = 1;

    while (end > 0 && line[end - 1] == '\n') {
        end--;
    }
    if (end == 0 || line[end - 1] < '0' || line[end - 1] > '9') {
        return false;
    }
    for (; end > 0 && line[end - 1] >= '0' && line[end - 1] <= '9'; end--) {
        value += (uint64_t)(line[end - 1] - '0') * unit;
        unit *= 10;
    }
    *ret_txn_id = value;
    return true;
}

/* Reads a line of LMDB's list of readers, its only public access to their snapshots. */
static int on_reader(const char *line, void *user)
{
    uint64_t *oldest = user;
    uint64_t txn_id = 0;

    if (read_snapshot(line, &txn_id) && txn_id < *oldest) {
        *oldest = txn_id;
    }
    return 0;
}

static enum err lmdb_stats(struct store_backend *backend, struct store_stats *ret_stats)
{
    struct lmdb_backend *lmdb = lmdb_backend(backend);
    MDB_envinfo info;
    MDB_stat stat;
    uint64_t oldest = UINT64_MAX;
    int listed = mdb_reader_list(lmdb->env, on_reader, &oldest);
    int code = mdb_env_stat(lmdb->env, &stat);

    ASSERT(listed >= 0); /* fails only without a callback */
    if (code == MDB_SUCCESS) {
        code = mdb_env_info(lmdb->env, &info);
    }
    if (code != MDB_SUCCESS) {
        return lmdb_translate(lmdb, code);
    }
    memset(ret_stats, 0, sizeof(*ret_stats));
    ret_stats->map_bytes = info.me_mapsize;
    ret_stats->map_used_bytes = (uint64_t)(info.me_last_pgno + 1) * stat.ms_psize;
    ret_stats->reader_count = info.me_numreaders;
    ret_stats->reader_lag_commits = oldest < info.me_last_txnid ? info.me_last_txnid - oldest : 0;
    return OK;
}

static enum err lmdb_restore(struct store_backend *backend)
{
    return lmdb_reserve(lmdb_backend(backend));
}

const struct store_backend_ops lmdb_ops = {
    .begin = lmdb_begin,
    .commit = lmdb_commit,
    .abort = lmdb_abort,
    .reset = lmdb_reset,
    .renew = lmdb_renew,
    .get = lmdb_get,
    .put = lmdb_put,
    .append = lmdb_append,
    .del = lmdb_del,
    .cursor_open = lmdb_cursor_open,
    .cursor_close = lmdb_cursor_close,
    .cursor_seek = lmdb_cursor_seek,
    .cursor_last = lmdb_cursor_last,
    .cursor_next = lmdb_cursor_next,
    .cursor_prev = lmdb_cursor_prev,
    .stats = lmdb_stats,
    .restore = lmdb_restore,
};
