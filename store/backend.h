/*
 * backend.h: ordered key-value transactions: the interface of a back end. LMDB is one, memory is
 * the other; both pass one contract suite. It is small enough that an overlay of two back ends can
 * implement it. Keys are at most STORE_KEY_BYTES_MAX bytes and begin with the 16 bytes of an
 * organisation id; a cursor has a prefix and ends with it.
 * Any number of read transactions, one write transaction at a time. Slices that are returned are
 * borrowed from the transaction: they become invalid with it (or its reset), and in a write
 * transaction with its next put or del.
 */
#ifndef ERRATA_STORE_BACKEND_H
#define ERRATA_STORE_BACKEND_H

#include "store/base/err.h"
#include "store/base/slice.h"
#include "store/base/uuid.h"

#define STORE_KEY_BYTES_MAX 64
/* Maximum bytes of a value: the largest event of the contract, a decision with a diff of 1 MiB, and an entry of a stream that
 * may become one; few are larger than 10 KiB. An event also fits in a message of 4 MiB, the default limit of gRPC clients. */
#define STORE_VALUE_BYTES_MAX (3 * 1024 * 1024)

enum store_table_class {
    STORE_LOG,
    STORE_PROJECTION,
    STORE_LOCAL
};

enum store_table {
#define TABLE(name, file_name, class) TABLE_##name,
#include <tables.def>
#undef TABLE
    TABLE_COUNT
};

const char *store_table_name(enum store_table table);
enum store_table_class store_table_class(enum store_table table);

enum store_access {
    STORE_READ,
    STORE_WRITE
};

enum store_order {
    STORE_ASCENDING,
    STORE_DESCENDING
};

/* Figures of a back end for monitoring. */
struct store_stats {
    uint64_t map_bytes; /* size of the map; 0 without one */
    uint64_t map_used_bytes; /* pages in use, in bytes */
    uint32_t reader_count; /* slots of readers that are or have been in use */
    uint64_t reader_lag_commits; /* commits since the oldest snapshot; pages freed since then
                                  * cannot be reused. 0 without a snapshot */
    uint64_t journal_memory_bytes; /* rows of a journal's commits, in memory; 0 without a journal */
    uint64_t journal_waiting_commits; /* commits not in the tables yet; 0 without a journal */
};

struct store_backend; /* created and closed by lmdb/lmdb.h or memory/memory.h */
struct store_txn; /* belongs to the thread that began it; never kept across loop turns */

MUST_CHECK enum err store_begin(struct store_backend *backend, enum store_access access,
                                struct store_txn **ret_txn);
/* Commits a write transaction durably; the transaction is freed even if this fails. */
MUST_CHECK enum err store_commit(struct store_txn *take_txn);
/* Ends any transaction without effect. NULL is allowed. */
void store_abort(struct store_txn *take_txn);
/* Releases a read transaction's snapshot, keeping the transaction for store_renew. */
void store_reset(struct store_txn *txn);
MUST_CHECK enum err store_renew(struct store_txn *txn);

/* Reads a value. ERR_NOT_FOUND if there is no such key. */
MUST_CHECK enum err store_get(struct store_txn *txn, enum store_table table, struct slice key,
                              struct slice *ret_value);
/* Adds or replaces a value. */
MUST_CHECK enum err store_put(struct store_txn *txn, enum store_table table, struct slice key,
                              struct slice value);
/* Adds a value whose key is above all keys with the same first 16 bytes (appending is cheaper). */
MUST_CHECK enum err store_append(struct store_txn *txn, enum store_table table, struct slice key,
                                 struct slice value);
/* Removes a key. ERR_NOT_FOUND if there is no such key. */
MUST_CHECK enum err store_del(struct store_txn *txn, enum store_table table, struct slice key);
/* Does the same, but nothing if there is no such key: cursors of the table stay valid then. */
MUST_CHECK enum err store_del_if_present(struct store_txn *txn, enum store_table table,
                                         struct slice key);
MUST_CHECK enum err store_stats(struct store_backend *backend, struct store_stats *ret_stats);

/* Recreates the reserve that was released when the disk was full. OK if it exists or there is room
 * for it, else ERR_DISK_FULL. The writer calls it before each probe, and after a batch that partly
 * met a full disk. */
MUST_CHECK enum err store_restore(struct store_backend *backend);

/* A walk over the keys that begin with a prefix. In a write transaction a put or del to the same
 * table invalidates it: read what is needed first. */
struct store_cursor {
    struct store_txn *txn;
    enum store_table table;
    enum store_order order;
    uint8_t prefix[STORE_KEY_BYTES_MAX];
    size_t prefix_bytes;
    uint8_t from[STORE_KEY_BYTES_MAX];
    size_t from_bytes;
    bool started;
    uint32_t
        changes; /* value of the table's counter when the cursor was opened; a change invalidates the cursor */
    void *handle; /* cursor of the back end */
};

/* Starts at the first key (in the order) that is not before `from`; an empty `from` is the prefix's
 * end in that order. `from` begins with `prefix`, which has at least 16 bytes. Both are copied. */
MUST_CHECK enum err store_cursor_init(struct store_cursor *cursor, struct store_txn *txn,
                                      enum store_table table, struct slice prefix,
                                      struct slice from, enum store_order order);
/* Moves to the next row. ERR_NOT_FOUND at the end of the prefix. */
MUST_CHECK enum err store_cursor_next(struct store_cursor *cursor, struct slice *ret_key,
                                      struct slice *ret_value);
/* Accepts a zeroed cursor. */
void store_cursor_deinit(struct store_cursor *cursor);

/* Returns the first organisation with a key in this table after `after` (NULL: the first of all);
 * the zero one, for rows of no organisation, comes first. For work on a whole store. ERR_NOT_FOUND
 * after the last. */
MUST_CHECK enum err store_next_org(struct store_txn *txn, enum store_table table,
                                   const struct uuid *after, struct uuid *ret_org);

#endif
