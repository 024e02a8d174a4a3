/*
 * memory.c: transactions over the maps of rows.h. The back end holds the newest map of each table;
 * a reader takes a reference to each, a writer copies the ones it changes and publishes them when
 * it commits. One lock is held for publishing, another during a write transaction.
 */
#include "store/memory/memory.h"

#include "store/backend_ops.h"
#include "store/base/assert.h"
#include "store/memory/rows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Overwrites slices that are no longer valid. */
#define LENT_FILL 0xDD

struct memory_backend {
    struct store_backend backend; /* first */
    pthread_mutex_t writing; /* held by the write transaction */
    pthread_mutex_t lock; /* protects the fields below */
    struct rows *tables[TABLE_COUNT]; /* the newest; immutable once published */
    uint64_t commit_count;
    uint32_t reader_count;
    struct memory_txn *oldest; /* the readers with a snapshot, in the order in which they took it */
    struct memory_txn *newest;
};

/* A row that a write transaction has read. */
struct memory_lent {
    struct memory_lent *next;
    size_t bytes;
    uint8_t data[]; /* the key, then the value */
};

struct memory_txn {
    struct store_txn txn; /* first */
    struct memory_lent
        *lent; /* for a write transaction: slices valid until its next put, del or end */
    struct rows *tables[TABLE_COUNT]; /* one reference for each; NULL while reset */
    bool owned[TABLE_COUNT]; /* a copy made by this write transaction */
    uint64_t snapshot; /* the commits before it; only of a reader, like the two below */
    struct memory_txn *older;
    struct memory_txn *newer;
};

struct memory_cursor {
    struct memory_txn *txn;
    enum store_table table;
    struct rows_place place;
    bool placed;
};

static struct memory_backend *memory_backend(struct store_backend *backend)
{
    return (struct memory_backend *)backend;
}

static struct memory_txn *memory_txn(struct store_txn *txn)
{
    return (struct memory_txn *)txn;
}

/* The lock is held. */
static void link_reader(struct memory_backend *memory, struct memory_txn *txn)
{
    txn->snapshot = memory->commit_count;
    txn->older = memory->newest;
    txn->newer = NULL;
    *(txn->older != NULL ? &txn->older->newer : &memory->oldest) = txn;
    memory->newest = txn;
    memory->reader_count++;
}

/* The lock is held. */
static void unlink_reader(struct memory_backend *memory, struct memory_txn *txn)
{
    *(txn->older != NULL ? &txn->older->newer : &memory->oldest) = txn->newer;
    *(txn->newer != NULL ? &txn->newer->older : &memory->newest) = txn->older;
    memory->reader_count--;
}

static void take_snapshot(struct memory_backend *memory, struct memory_txn *txn,
                          enum store_access access)
{
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        txn->tables[i] = rows_ref(memory->tables[i]);
    }
    if (access == STORE_READ) {
        link_reader(memory, txn);
    }
    pthread_mutex_unlock(&memory->lock);
}

static void drop_snapshot(struct memory_backend *memory, struct memory_txn *txn,
                          enum store_access access)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        rows_unref(txn->tables[i]);
        txn->tables[i] = NULL;
    }
    if (access == STORE_READ) {
        pthread_mutex_lock(&memory->lock);
        unlink_reader(memory, txn);
        pthread_mutex_unlock(&memory->lock);
    }
}

/* A write transaction returns copies, which its next change overwrites and frees, as LMDB may reuse
 * the page that a slice points into. So code that keeps such a slice too long fails every test with
 * this back end. */
static enum err lend_row(struct memory_txn *txn, struct slice *key, struct slice *value)
{
    struct memory_lent *lent = NULL;

    if (txn->txn.access != STORE_WRITE) {
        return OK;
    }
    lent = malloc(sizeof(*lent) + key->size + value->size);
    if (lent == NULL) {
        return ERR_MEMORY;
    }
    lent->bytes = key->size + value->size;
    memcpy(lent->data, key->data, key->size); /* a key is never empty */
    if (value->size > 0) {
        memcpy(lent->data + key->size, value->data, value->size);
    }
    *key = slice_of(lent->data, key->size);
    *value = slice_of(lent->data + key->size, value->size);
    lent->next = txn->lent;
    txn->lent = lent;
    return OK;
}

static void take_back(struct memory_txn *txn)
{
    while (txn->lent != NULL) {
        struct memory_lent *lent = txn->lent;

        txn->lent = lent->next;
        memset(lent->data, LENT_FILL, lent->bytes);
        free(lent);
    }
}

static enum err memory_begin(struct store_backend *backend, enum store_access access,
                             struct store_txn **ret_txn)
{
    struct memory_backend *memory = memory_backend(backend);
    struct memory_txn *txn = calloc(1, sizeof(*txn));

    if (txn == NULL) {
        return ERR_MEMORY;
    }
    if (access == STORE_WRITE) {
        pthread_mutex_lock(&memory->writing);
    }
    take_snapshot(memory, txn, access);
    *ret_txn = &txn->txn;
    return OK;
}

static void memory_abort(struct store_txn *take_txn)
{
    struct memory_backend *memory = memory_backend(take_txn->backend);
    enum store_access access = take_txn->access;

    take_back(memory_txn(take_txn));
    if (!take_txn->idle) {
        drop_snapshot(memory, memory_txn(take_txn), access);
    }
    free(take_txn);
    if (access == STORE_WRITE) {
        pthread_mutex_unlock(&memory->writing);
    }
}

static enum err memory_commit(struct store_txn *take_txn)
{
    struct memory_backend *memory = memory_backend(take_txn->backend);
    struct memory_txn *txn = memory_txn(take_txn);

    take_back(txn);
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        struct rows *before = memory->tables[i];

        memory->tables[i] = txn->tables[i];
        txn->tables[i] = before;
    }
    memory->commit_count++;
    pthread_mutex_unlock(&memory->lock);
    memory_abort(take_txn);
    return OK;
}

static void memory_reset(struct store_txn *txn)
{
    drop_snapshot(memory_backend(txn->backend), memory_txn(txn), STORE_READ);
}

static enum err memory_renew(struct store_txn *txn)
{
    take_snapshot(memory_backend(txn->backend), memory_txn(txn), STORE_READ);
    return OK;
}

static enum err memory_get(struct store_txn *txn, enum store_table table, struct slice key,
                           struct slice *ret_value)
{
    const struct rows *rows = memory_txn(txn)->tables[table];
    struct rows_place place;
    struct slice found = {NULL, 0};
    struct slice value = {NULL, 0};

    if (!rows_seek(rows, key, &place)) {
        return ERR_NOT_FOUND;
    }
    rows_read(rows, place, &found, &value);
    if (!slice_equal(found, key)) {
        return ERR_NOT_FOUND;
    }
    if (lend_row(memory_txn(txn), &found, &value) != OK) {
        return ERR_MEMORY;
    }
    *ret_value = value;
    return OK;
}

/* Replaces the table's map by a copy of this write transaction. */
static enum err own_table(struct memory_txn *txn, enum store_table table)
{
    struct rows *copy = NULL;

    if (txn->owned[table]) {
        return OK;
    }
    copy = rows_copy(txn->tables[table]);
    if (copy == NULL) {
        return ERR_MEMORY;
    }
    rows_unref(txn->tables[table]);
    txn->tables[table] = copy;
    txn->owned[table] = true;
    return OK;
}

static enum err memory_put(struct store_txn *txn, enum store_table table, struct slice key,
                           struct slice value)
{
    enum err err = own_table(memory_txn(txn), table);

    if (err == OK) {
        err = rows_put(memory_txn(txn)->tables[table], key, value);
    }
    take_back(memory_txn(txn)); /* must be last, since key and value may be lent */
    return err;
}

static enum err memory_del(struct store_txn *txn, enum store_table table, struct slice key)
{
    enum err err = own_table(memory_txn(txn), table);

    if (err == OK) {
        err = rows_del(memory_txn(txn)->tables[table], key);
    }
    take_back(memory_txn(txn));
    return err;
}

static enum err memory_cursor_open(struct store_txn *txn, enum store_table table, void **ret_handle)
{
    struct memory_cursor *cursor = calloc(1, sizeof(*cursor));

    if (cursor == NULL) {
        return ERR_MEMORY;
    }
    cursor->txn = memory_txn(txn);
    cursor->table = table;
    *ret_handle = cursor;
    return OK;
}

static void memory_cursor_close(struct store_txn *txn, void *handle)
{
    (void)txn;
    free(handle);
}

/* Returns the row that a move reached. */
static enum err landed_row(struct memory_cursor *cursor, bool found, struct slice *ret_key,
                           struct slice *ret_value)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    if (!found) {
        return ERR_NOT_FOUND;
    }
    cursor->placed = true;
    rows_read(cursor->txn->tables[cursor->table], cursor->place, &key, &value);
    if (lend_row(cursor->txn, &key, &value) != OK) {
        return ERR_MEMORY;
    }
    *ret_key = key;
    *ret_value = value;
    return OK;
}

static enum err memory_cursor_seek(void *handle, struct slice key, struct slice *ret_key,
                                   struct slice *ret_value)
{
    struct memory_cursor *cursor = handle;
    const struct rows *rows = cursor->txn->tables[cursor->table];

    return landed_row(cursor, rows_seek(rows, key, &cursor->place), ret_key, ret_value);
}

static enum err memory_cursor_last(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct memory_cursor *cursor = handle;
    const struct rows *rows = cursor->txn->tables[cursor->table];

    return landed_row(cursor, rows_last(rows, &cursor->place), ret_key, ret_value);
}

static enum err memory_cursor_next(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct memory_cursor *cursor = handle;
    const struct rows *rows = cursor->txn->tables[cursor->table];

    return landed_row(cursor, cursor->placed && rows_next(rows, &cursor->place), ret_key,
                      ret_value);
}

static enum err memory_cursor_prev(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct memory_cursor *cursor = handle;
    const struct rows *rows = cursor->txn->tables[cursor->table];

    return landed_row(cursor, cursor->placed && rows_prev(rows, &cursor->place), ret_key,
                      ret_value);
}

static enum err memory_stats(struct store_backend *backend, struct store_stats *ret_stats)
{
    struct memory_backend *memory = memory_backend(backend);

    memset(ret_stats, 0, sizeof(*ret_stats));
    pthread_mutex_lock(&memory->lock);
    ret_stats->reader_count = memory->reader_count;
    if (memory->oldest != NULL) {
        ret_stats->reader_lag_commits = memory->commit_count - memory->oldest->snapshot;
    }
    pthread_mutex_unlock(&memory->lock);
    return OK;
}

static enum err memory_restore(struct store_backend *backend)
{
    (void)backend;
    return OK;
}

static const struct store_backend_ops memory_ops = {
    .begin = memory_begin,
    .commit = memory_commit,
    .abort = memory_abort,
    .reset = memory_reset,
    .renew = memory_renew,
    .get = memory_get,
    .put = memory_put,
    .append = memory_put,
    .del = memory_del,
    .cursor_open = memory_cursor_open,
    .cursor_close = memory_cursor_close,
    .cursor_seek = memory_cursor_seek,
    .cursor_last = memory_cursor_last,
    .cursor_next = memory_cursor_next,
    .cursor_prev = memory_cursor_prev,
    .stats = memory_stats,
    .restore = memory_restore,
};

enum err store_memory_open(struct store_backend **ret_backend)
{
    struct memory_backend *memory = calloc(1, sizeof(*memory));

    if (memory == NULL) {
        return ERR_MEMORY;
    }
    memory->backend.ops = &memory_ops;
    pthread_mutex_init(&memory->writing, NULL);
    pthread_mutex_init(&memory->lock, NULL);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        memory->tables[i] = rows_new();
        if (memory->tables[i] == NULL) {
            store_memory_close(&memory->backend);
            return ERR_MEMORY;
        }
    }
    *ret_backend = &memory->backend;
    return OK;
}

void store_memory_close(struct store_backend *take_backend)
{
    struct memory_backend *memory = NULL;

    if (take_backend == NULL) {
        return;
    }
    memory = memory_backend(take_backend);
    ASSERT(memory->reader_count == 0);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        rows_unref(memory->tables[i]);
    }
    pthread_mutex_destroy(&memory->lock);
    pthread_mutex_destroy(&memory->writing);
    free(memory);
}
