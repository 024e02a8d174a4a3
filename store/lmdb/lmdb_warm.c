/*
 * lmdb_warm.c: reads every page that a lookup may need: index tables completely, up to a limit; of
 * the log, the newest events of each organisation. Works in short transactions, so that it pins no
 * old pages.
 */
#include "store/keys.h"
#include "store/lmdb/lmdb_internal.h"

/* Rows per transaction: some milliseconds with a cold disk. */
#define WARM_ROWS 1000
/* A larger index is not read ahead: it would displace the pages in use. */
#define WARM_ROWS_MAX 20000000ull
/* Events at the end of each organisation's log. */
#define WARM_EVENTS 200

/* Position of the walk over one table. */
struct warm {
    struct lmdb_backend *lmdb;
    const atomic_bool *stop;
    uint8_t sink; /* prevents the compiler from removing the reads */
    uint64_t rows;
    uint8_t last[STORE_KEY_BYTES_MAX]; /* the last key read */
    size_t last_bytes; /* 0: not measured yet */
};

static void touch(struct warm *warm, MDB_val value)
{
    if (value.mv_size > 0) {
        const volatile uint8_t *bytes = value.mv_data;

        warm->sink ^= bytes[0];
        warm->sink ^= bytes[value.mv_size - 1];
    }
}

/* Reads the newest events of one organisation: its keys grow with seq, so they are at its end. */
static void warm_log(struct warm *warm, MDB_txn *txn, MDB_val org)
{
    struct slice prefix = slice_of(org.mv_data, org.mv_size);
    struct org_id id;
    struct key end;
    MDB_cursor *cursor = NULL;
    MDB_val value = {0, NULL};
    MDB_val key;
    int code = MDB_SUCCESS;

    if (prefix.size != sizeof(id.uuid.bytes) ||
        LMDB_INSIDE(mdb_cursor_open(txn, warm->lmdb->tables[TABLE_EVENT], &cursor)) !=
            MDB_SUCCESS) {
        return;
    }
    memcpy(id.uuid.bytes, prefix.data, prefix.size);
    end = key_event(id, UINT64_MAX);
    key.mv_size = end.size;
    key.mv_data = end.bytes;
    code = LMDB_INSIDE(mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE));
    code = LMDB_INSIDE(
        mdb_cursor_get(cursor, &key, &value, code == MDB_NOTFOUND ? MDB_LAST : MDB_PREV));
    for (int i = 0; i < WARM_EVENTS && code == MDB_SUCCESS; i++) {
        if (!slice_starts_with(slice_of(key.mv_data, key.mv_size), prefix)) {
            break;
        }
        touch(warm, value);
        code = LMDB_INSIDE(mdb_cursor_get(cursor, &key, &value, MDB_PREV));
    }
    mdb_cursor_close(cursor);
}

/* Reads up to WARM_ROWS rows after the last one; MDB_NOTFOUND at the table's end. */
static int warm_rows(struct warm *warm, MDB_txn *txn, enum store_table table)
{
    MDB_cursor *cursor = NULL;
    MDB_val key = {warm->last_bytes, warm->last};
    MDB_val value = {0, NULL};
    int code = LMDB_INSIDE(mdb_cursor_open(txn, warm->lmdb->tables[table], &cursor));

    if (code != MDB_SUCCESS) {
        return code;
    }
    code = LMDB_INSIDE(
        mdb_cursor_get(cursor, &key, &value, warm->last_bytes == 0 ? MDB_FIRST : MDB_SET_RANGE));
    for (int i = 0; i < WARM_ROWS && code == MDB_SUCCESS; i++) {
        touch(warm, value);
        warm->rows++;
        if (table == TABLE_ORG_HEAD) {
            warm_log(warm, txn, key);
        }
        if (key.mv_size <= sizeof(warm->last)) {
            memcpy(warm->last, key.mv_data, key.mv_size);
            warm->last_bytes = key.mv_size;
        }
        code = LMDB_INSIDE(mdb_cursor_get(cursor, &key, &value, MDB_NEXT));
    }
    mdb_cursor_close(cursor);
    return code;
}

static enum err warm_table(struct warm *warm, enum store_table table)
{
    int code = MDB_SUCCESS;

    warm->last_bytes = 0;
    while (code == MDB_SUCCESS && warm->rows < WARM_ROWS_MAX && !atomic_load(warm->stop)) {
        MDB_txn *txn = NULL;

        code = mdb_txn_begin(warm->lmdb->env, NULL, MDB_RDONLY, &txn);
        if (code == MDB_SUCCESS) {
            code = warm_rows(warm, txn, table);
            mdb_txn_abort(txn);
        }
    }
    return code == MDB_NOTFOUND ? OK : lmdb_translate(warm->lmdb, code);
}

enum err store_lmdb_warm_up(struct store_backend *backend, const atomic_bool *stop)
{
    struct warm warm = {.lmdb = (struct lmdb_backend *)backend, .stop = stop};

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        enum err err = OK;

        if (i != TABLE_EVENT) {
            err = warm_table(&warm, (enum store_table)i);
        }
        if (err != OK) {
            return err;
        }
    }
    return OK;
}
