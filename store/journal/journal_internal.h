/*
 * journal_internal.h: the structs of this back end; private to its files.
 */
#ifndef ERRATA_STORE_JOURNAL_JOURNAL_INTERNAL_H
#define ERRATA_STORE_JOURNAL_JOURNAL_INTERNAL_H

#include "store/backend_ops.h"
#include "store/journal/journal.h"
#include "store/journal/segments.h"

#include <pthread.h>
#include <stdatomic.h>

/* The memtable that takes commits, then the one that is stored in the tables. */
#define MEMTABLES 2
/* Stores whose last commit is remembered: a snapshot of the tables that is older counts as the oldest of them. */
#define STORES_REMEMBERED 64

struct journal {
    struct store_backend backend; /* must be the first member */
    struct store_backend *tables;
    bool (*is_lost)(const struct store_backend *tables); /* NULL: never */
    struct segments *segments;
    const struct clock *clock;
    size_t memtable_bytes;
    int64_t store_after_us;
    int64_t overwrite_after_us;
    pthread_t thread; /* stores memtables */
    pthread_mutex_t writing; /* held by the write transaction, and while memtables are swapped */
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t changed; /* a memtable was swapped or stored, or the journal is closing */
    struct chunk_pool *pool; /* the memory of memtables; keeps that of one */
    struct memtable *active;
    struct memtable *frozen; /* NULL: none is being stored */
    uint64_t committed; /* the last commit */
    uint64_t frozen_last; /* the last commit in `frozen` */
    uint64_t stored; /* the last commit that the tables have */
    int64_t last_commit_us; /* monotonic */
    int64_t active_at_us; /* monotonic time of the first commit in `active`; 0: it has none */
    int64_t frozen_at_us; /* monotonic */
    enum err result; /* result of the last attempt to store a memtable */
    uint64_t attempts; /* number of attempts to store a memtable */
    uint32_t checkpoints; /* number of calls that wait for a memtable to be stored */
    bool
        needs_room; /* the disk had no room for another segment: the tables have to take what is in memory */
    bool closing;
    struct store_journal_stats stats;
    uint64_t
        stored_by[STORES_REMEMBERED]; /* the last commit of a store, at its number modulo this */
    struct journal_txn
        *oldest; /* the readers with a snapshot, in the order in which they took it */
    struct journal_txn *newest;
    struct record record; /* record of the write transaction */
    /* The generation of the memtable that is being stored, or was stored last: the tables may have some of its rows. */
    atomic_uint_fast64_t storing_generation;
    uint64_t active_generation; /* protected by `lock` */
    atomic_bool broken;
};

struct journal_cursor {
    struct journal_txn *txn;
    bool used;
    bool kept; /* kept in the transaction's cache */
    bool is_plain; /* the memtables have no row of the table: only `tables` counts */
    void *tables; /* the cursor of the tables' back end */
    struct memtable_cursor rows[MEMTABLES];
    /* The current row of each source; is_valid is false at the source's end. */
    struct journal_source {
        bool is_valid;
        bool is_deleted;
        struct slice key;
        struct slice value;
    } sources[MEMTABLES + 1]; /* newest first: for one key, the first source counts */
    struct slice at; /* the row that was returned last */
    enum store_order order; /* order of the last move */
};

struct journal_txn {
    struct store_txn txn; /* must be the first member */
    struct store_txn *tables; /* a read transaction of the tables */
    struct memtable *memtables[MEMTABLES]; /* one reference to each; NULL: none */
    struct journal_txn *older; /* in the journal's list; used only by a reader with a snapshot */
    struct journal_txn *newer;
    uint64_t stores; /* number of memtables stored before the snapshot */
    uint64_t snapshot; /* number up to which versions are visible; a write has its own number */
    struct journal_cursor cursors[TABLE_COUNT]; /* one per table, kept between lookups */
};

extern const struct store_backend_ops journal_ops;

/* Returns whether the tables can be written to: only then a read commit of theirs is durable (lmdb/lmdb_settle.c). */
bool journal_can_write(struct store_backend *tables);
/* Returns whether the tables' file was removed. Any thread. */
bool journal_is_lost(const struct journal *journal);

/* Cursors (journal_cursor.c). */
enum err journal_cursor_open(struct store_txn *txn, enum store_table table, void **ret_handle);
void journal_cursor_close(struct store_txn *txn, void *handle);
enum err journal_cursor_seek(void *handle, struct slice key, struct slice *ret_key,
                             struct slice *ret_value);
enum err journal_cursor_last(void *handle, struct slice *ret_key, struct slice *ret_value);
enum err journal_cursor_next(void *handle, struct slice *ret_key, struct slice *ret_value);
enum err journal_cursor_prev(void *handle, struct slice *ret_key, struct slice *ret_value);

/* Storing (journal_store.c). Makes the active memtable the frozen one, whose last commit is `last`, and `take_next` the
 * active one. There is no frozen one, and both locks are held if the thread runs. */
void journal_swap(struct journal *journal, struct memtable *take_next, uint64_t last);
/* Makes the active memtable the frozen one, if there is none and it has rows. Both locks are
 * held. Without memory nothing changes. */
void journal_freeze(struct journal *journal);
/* Stores a memtable in the tables, in one transaction, with the number of its last commit. */
MUST_CHECK enum err journal_store(struct journal *journal, const struct memtable *memtable,
                                  uint64_t last);
/* Reads the last commit that the tables have; 0 for new tables. */
MUST_CHECK enum err journal_read_stored(struct store_backend *tables, uint64_t *ret_number);
/* Waits until there is room for another commit, or pauses so that there will be. ERR_UNAVAILABLE if
 * there is no room for too long; if storing fails, its error. */
MUST_CHECK enum err journal_wait_for_room(struct journal *journal);
/* Overwrites the records of a segment that are old (journal_erase.c). No lock is held. */
void journal_overwrite_old(struct journal *journal);
void journal_pause(int64_t us);
/* The body of the thread. */
void *journal_run(void *user);

#endif
