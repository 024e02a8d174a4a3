/*
 * memtable.h: the newest rows, in memory: for each table a skip list of rows by key, a hash table of all rows, and for
 * each row its versions from the newest to the oldest. One thread writes; any number of threads read meanwhile,
 * without a lock. A reader sees the newest version of a row whose number is at most its snapshot's, so only the
 * transaction itself sees its versions before it is committed. Skip list: Pugh, CACM 33(6), 1990. Jumps over versions:
 * Myers, "An applicative random-access stack", IPL 17, 1983.
 */
#ifndef ERRATA_STORE_JOURNAL_MEMTABLE_H
#define ERRATA_STORE_JOURNAL_MEMTABLE_H

#include "store/backend.h"
#include "store/journal/chunk_pool.h"

/* The snapshot that sees every version. */
#define MEMTABLE_ALL UINT64_MAX

struct memtable; /* reference-counted; freed with its last reference */
struct memtable_node;
struct memtable_version;

/* The effect of an operation on a row. */
enum memtable_op {
    MEMTABLE_PUT = 1,
    MEMTABLE_APPEND = 2, /* a put whose key is greater than all others of its organisation */
    MEMTABLE_DEL = 3
};

/* A version of a row. Slices are borrowed from the memtable. */
struct memtable_row {
    enum store_table table;
    enum memtable_op op;
    struct slice key;
    struct slice value; /* empty for MEMTABLE_DEL */
    uint64_t number; /* number of the commit */
};

/* `bytes`: the memory that it will have, approximately; the size of its hash table depends on it. `pool`: gives it its
 * memory, and must outlive it. Returns NULL if there is no memory. */
struct memtable *memtable_new(size_t bytes, struct chunk_pool *pool);
struct memtable *memtable_ref(struct memtable *memtable);
/* NULL is allowed. */
void memtable_unref(struct memtable *memtable);
/* Returns the bytes of its rows and versions. It uses up to 2 MiB more, and the memory of its hash table. */
size_t memtable_bytes(const struct memtable *memtable);
/* Returns whether the memtable has a version of any row of the table. */
bool memtable_has_table(const struct memtable *memtable, enum store_table table);

/* Adds a version (row->number from 1, and not below that of any earlier put). A second put to the same
 * row with the same number replaces the first. The bytes are copied. ERR_MEMORY changes nothing. */
MUST_CHECK enum err memtable_put(struct memtable *memtable, const struct memtable_row *row);
/* Ends the transaction: its versions stay. */
void memtable_keep(struct memtable *memtable);
/* Removes the versions that were put since the last memtable_keep or memtable_undo. */
void memtable_undo(struct memtable *memtable);
/* Calls the function for each version put since the last memtable_keep or memtable_undo, last put first. */
void memtable_each_new(const struct memtable *memtable,
                       void (*on_row)(void *user, const struct memtable_row *row), void *user);

/* Finds the version that the snapshot sees; false if there is none. */
bool memtable_find(const struct memtable *memtable, enum store_table table, struct slice key,
                   uint64_t snapshot, struct memtable_row *ret_row);

/* A position among the rows of one table that a snapshot sees, including removed rows. At the end a
 * move returns false, and the cursor has no position. */
struct memtable_cursor {
    const struct memtable *memtable;
    enum store_table table;
    uint64_t snapshot;
    const struct memtable_node *at; /* NULL: no position */
    const struct memtable_version *seen; /* of that row */
};

/* Moves to the first row at or after the key. */
bool memtable_seek(struct memtable_cursor *cursor, struct slice key);
bool memtable_last(struct memtable_cursor *cursor);
bool memtable_next(struct memtable_cursor *cursor);
/* Moves to the last row before the key. */
bool memtable_before(struct memtable_cursor *cursor, struct slice key);
void memtable_read(const struct memtable_cursor *cursor, struct memtable_row *ret_row);

#endif
