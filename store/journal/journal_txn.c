/*
 * journal_txn.c: transactions. A reader takes a reference to both memtables and the number of the last commit, then a
 * snapshot of the tables. These belong together unless the active memtable was stored in between: then
 * the tables may have later commits, and the reader starts again. A writer is a reader that also
 * sees its own versions; its commit is one record in the journal.
 */
#include "store/base/assert.h"
#include "store/journal/journal_internal.h"

#include <stdlib.h>

static struct journal *journal_of(struct store_backend *backend)
{
    return (struct journal *)backend;
}

static struct journal_txn *journal_txn(struct store_txn *txn)
{
    return (struct journal_txn *)txn;
}

/* The lock is held. */
static void link_reader(struct journal *journal, struct journal_txn *txn)
{
    txn->older = journal->newest;
    txn->newer = NULL;
    *(txn->older != NULL ? &txn->older->newer : &journal->oldest) = txn;
    journal->newest = txn;
}

/* The lock is held. */
static void unlink_reader(struct journal *journal, struct journal_txn *txn)
{
    *(txn->older != NULL ? &txn->older->newer : &journal->oldest) = txn->newer;
    *(txn->newer != NULL ? &txn->newer->older : &journal->newest) = txn->older;
}

/* Takes the memtables and the number of the last commit. Returns the active one's generation. */
static uint64_t take_memtables(struct journal *journal, struct journal_txn *txn)
{
    uint64_t generation = 0;

    (void)pthread_mutex_lock(&journal->lock);
    txn->memtables[0] = memtable_ref(journal->active);
    txn->memtables[1] = journal->frozen != NULL ? memtable_ref(journal->frozen) : NULL;
    txn->snapshot = journal->committed;
    txn->stores = journal->stats.stores;
    generation = journal->active_generation;
    link_reader(journal, txn);
    (void)pthread_mutex_unlock(&journal->lock);
    return generation;
}

static void drop_memtables(struct journal *journal, struct journal_txn *txn)
{
    (void)pthread_mutex_lock(&journal->lock);
    unlink_reader(journal, txn);
    (void)pthread_mutex_unlock(&journal->lock);
    for (size_t i = 0; i < MEMTABLES; i++) {
        memtable_unref(txn->memtables[i]);
        txn->memtables[i] = NULL;
    }
}

/* Takes a consistent snapshot of memtables and tables for a transaction that has none. Another
 * attempt is needed only if a whole memtable was filled and stored meanwhile. */
static enum err take_snapshot(struct journal *journal, struct journal_txn *txn)
{
    for (;;) {
        uint64_t generation = take_memtables(journal, txn);
        enum err err = txn->tables != NULL ? store_renew(txn->tables)
                                           : store_begin(journal->tables, STORE_READ, &txn->tables);

        if (err != OK) {
            drop_memtables(journal, txn);
            return err;
        }
        if (atomic_load(&journal->storing_generation) < generation) {
            return OK;
        }
        store_reset(txn->tables);
        drop_memtables(journal, txn);
    }
}

static enum err journal_begin(struct store_backend *backend, enum store_access access,
                              struct store_txn **ret_txn)
{
    struct journal *journal = journal_of(backend);
    struct journal_txn *txn = NULL;
    enum err err = OK;

    if (access == STORE_WRITE) {
        err = journal_wait_for_room(journal);
        if (err != OK) {
            return err;
        }
    }
    txn = calloc(1, sizeof(*txn));
    if (txn == NULL) {
        return ERR_MEMORY;
    }
    if (access == STORE_WRITE) {
        (void)pthread_mutex_lock(&journal->writing);
    }
    err = take_snapshot(journal, txn);
    if (err != OK) {
        if (access == STORE_WRITE) {
            (void)pthread_mutex_unlock(&journal->writing);
        }
        store_abort(txn->tables);
        free(txn);
        return err;
    }
    txn->snapshot += access == STORE_WRITE; /* the number of its commit */
    *ret_txn = &txn->txn;
    return OK;
}

/* Frees the transaction. */
static void end_txn(struct journal_txn *txn)
{
    struct journal *journal = journal_of(txn->txn.backend);
    enum store_access access = txn->txn.access;

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        ASSERT(!txn->cursors[i].used);
    }
    store_abort(txn->tables);
    if (!txn->txn.idle) {
        drop_memtables(journal, txn);
    }
    free(txn);
    if (access == STORE_WRITE) {
        (void)pthread_mutex_unlock(&journal->writing);
    }
}

static void journal_abort(struct store_txn *take_txn)
{
    struct journal_txn *txn = journal_txn(take_txn);

    if (take_txn->access == STORE_WRITE) {
        memtable_undo(txn->memtables[0]);
    }
    end_txn(txn);
}

bool journal_is_lost(const struct journal *journal)
{
    return journal->is_lost != NULL && journal->is_lost(journal->tables);
}

static void add_to_record(void *user, const struct memtable_row *row)
{
    record_add(user, row);
}

/* Makes the commit visible, and gives a full memtable to the thread that stores it. */
static void publish(struct journal *journal, struct journal_txn *txn)
{
    memtable_keep(txn->memtables[0]);
    (void)pthread_mutex_lock(&journal->lock);
    journal->committed = txn->snapshot;
    journal->last_commit_us = clock_monotonic_us(journal->clock);
    if (journal->active_at_us == 0) {
        journal->active_at_us = journal->last_commit_us;
    }
    if (memtable_bytes(journal->active) >= journal->memtable_bytes || journal->checkpoints > 0) {
        journal_freeze(journal);
    }
    (void)pthread_mutex_unlock(&journal->lock);
}

/* Writes the memtables to the tables at once, so that a later commit finds a free segment. */
static void ask_for_room(struct journal *journal)
{
    (void)pthread_mutex_lock(&journal->lock);
    journal->needs_room = true;
    (void)pthread_cond_broadcast(&journal->changed);
    (void)pthread_mutex_unlock(&journal->lock);
}

static enum err journal_commit(struct store_txn *take_txn)
{
    struct journal *journal = journal_of(take_txn->backend);
    struct journal_txn *txn = journal_txn(take_txn);
    enum err err = OK;

    record_begin(&journal->record);
    memtable_each_new(txn->memtables[0], add_to_record, &journal->record);
    if (journal->record.size > RECORD_HEAD_BYTES || journal->record.failed) {
        err = journal_is_lost(journal)
                  ? ERR_IO
                  : segments_append(journal->segments, &journal->record, txn->snapshot);
        if (err == OK) {
            publish(journal, txn);
        } else {
            memtable_undo(txn->memtables[0]);
        }
        if (err == ERR_DISK_FULL || err == ERR_BUSY) {
            ask_for_room(journal);
        } else if (err == ERR_UNAVAILABLE) {
            atomic_store(&journal->broken, true);
        }
    }
    end_txn(txn);
    return err;
}

static void journal_reset(struct store_txn *txn)
{
    store_reset(journal_txn(txn)->tables);
    drop_memtables(journal_of(txn->backend), journal_txn(txn));
}

static enum err journal_renew(struct store_txn *txn)
{
    return take_snapshot(journal_of(txn->backend), journal_txn(txn));
}

static enum err journal_get(struct store_txn *txn, enum store_table table, struct slice key,
                            struct slice *ret_value)
{
    struct journal_txn *journal = journal_txn(txn);
    struct memtable_row row;

    for (size_t i = 0; i < MEMTABLES; i++) {
        if (journal->memtables[i] != NULL && memtable_has_table(journal->memtables[i], table) &&
            memtable_find(journal->memtables[i], table, key, journal->snapshot, &row)) {
            *ret_value = row.value;
            return row.op == MEMTABLE_DEL ? ERR_NOT_FOUND : OK;
        }
    }
    return journal->tables->backend->ops->get(journal->tables, table, key, ret_value);
}

static enum err put_version(struct store_txn *txn, enum store_table table, enum memtable_op op,
                            struct slice key, struct slice value)
{
    const struct memtable_row row = {
        .table = table, .op = op, .key = key, .value = value, .number = journal_txn(txn)->snapshot};

    return memtable_put(journal_txn(txn)->memtables[0], &row);
}

static enum err journal_put(struct store_txn *txn, enum store_table table, struct slice key,
                            struct slice value)
{
    return put_version(txn, table, MEMTABLE_PUT, key, value);
}

static enum err journal_append(struct store_txn *txn, enum store_table table, struct slice key,
                               struct slice value)
{
    return put_version(txn, table, MEMTABLE_APPEND, key, value);
}

static enum err journal_del(struct store_txn *txn, enum store_table table, struct slice key)
{
    struct slice value = {NULL, 0};
    enum err err = journal_get(txn, table, key, &value);

    return err == OK ? put_version(txn, table, MEMTABLE_DEL, key, slice_of(NULL, 0)) : err;
}

/* Returns the age of a snapshot of the tables that was taken before the last `stores` stores, in commits. The lock is
 * held. */
static uint64_t age_in_commits(const struct journal *journal, uint64_t stores)
{
    uint64_t last = journal->stats.stores;

    stores = stores < last ? stores : last;
    stores = stores < STORES_REMEMBERED ? stores : STORES_REMEMBERED - 1;
    return journal->committed - journal->stored_by[(last - stores) % STORES_REMEMBERED];
}

/* Returns the oldest reader's age in commits. Copies of the tables have snapshots of their own,
 * whose age is counted in stored memtables; it is used if it exceeds the largest possible age of
 * the oldest reader's snapshot of the tables. */
static uint64_t oldest_age(struct journal *journal, uint64_t tables_lag)
{
    uint64_t age = 0;
    uint64_t stores = 0; /* since the oldest reader's snapshot */

    (void)pthread_mutex_lock(&journal->lock);
    if (journal->oldest != NULL) {
        stores = journal->stats.stores + (journal->frozen != NULL) - journal->oldest->stores;
        age = journal->oldest->snapshot < journal->committed
                  ? journal->committed - journal->oldest->snapshot
                  : 0;
    }
    if (tables_lag > stores) {
        age = age_in_commits(journal, tables_lag);
    }
    (void)pthread_mutex_unlock(&journal->lock);
    return age;
}

static enum err journal_stats(struct store_backend *backend, struct store_stats *ret_stats)
{
    struct journal *journal = journal_of(backend);
    enum err err = store_stats(journal->tables, ret_stats);
    struct store_journal_stats stats;

    store_journal_stats(backend, &stats);
    ret_stats->reader_lag_commits = oldest_age(journal, ret_stats->reader_lag_commits);
    ret_stats->journal_memory_bytes = stats.memory_bytes;
    ret_stats->journal_waiting_commits = stats.commits_waiting;
    return err;
}

/* Makes the thread retry at once. */
static enum err journal_restore(struct store_backend *backend)
{
    struct journal *journal = journal_of(backend);
    enum err err = store_restore(journal->tables);

    if (err == ERR_DISK_FULL && segments_give_up_free(journal->segments)) {
        err = store_restore(journal->tables);
    }
    if (err != OK || atomic_load(&journal->broken)) {
        return err != OK ? err : ERR_UNAVAILABLE;
    }
    (void)pthread_mutex_lock(&journal->lock);
    err = journal->result;
    (void)pthread_cond_broadcast(&journal->changed);
    (void)pthread_mutex_unlock(&journal->lock);
    return err;
}

const struct store_backend_ops journal_ops = {
    .begin = journal_begin,
    .commit = journal_commit,
    .abort = journal_abort,
    .reset = journal_reset,
    .renew = journal_renew,
    .get = journal_get,
    .put = journal_put,
    .append = journal_append,
    .del = journal_del,
    .cursor_open = journal_cursor_open,
    .cursor_close = journal_cursor_close,
    .cursor_seek = journal_cursor_seek,
    .cursor_last = journal_cursor_last,
    .cursor_next = journal_cursor_next,
    .cursor_prev = journal_cursor_prev,
    .stats = journal_stats,
    .restore = journal_restore,
};
