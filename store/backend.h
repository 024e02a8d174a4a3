/*
 * backend.h: ordered key-value transactions, the only thing that a back end must give. LMDB is one,
 * memory is the other; one contract suite passes over both. So small that an overlay of two back
 * ends can implement it unseen by anything above. Keys are at most STORE_KEY_BYTES_MAX bytes and
 * begin with 16 bytes of organisation; a cursor is given a prefix and ends at it.
 *
 * Any number of read transactions, one write transaction at a time. Slices that come out are
 * borrowed from the transaction: they die with it (or with its reset), and in a write transaction
 * with its next put or del.
 */
#ifndef ERRATA_STORE_BACKEND_H
#define ERRATA_STORE_BACKEND_H

#include "store/base/err.h"
#include "store/base/slice.h"
#include "store/base/uuid.h"

#define STORE_KEY_BYTES_MAX 64
/* No value is longer: whole events, never megabytes. */
#define STORE_VALUE_BYTES_MAX (256 * 1024)

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

/* Numbers about a back end, for people. */
struct store_stats {
    uint64_t map_bytes; /* size of the map; 0 without one */
    uint64_t map_used_bytes; /* pages in use, in bytes */
    uint32_t reader_count; /* slots of readers that are or were in use */
    uint64_t reader_lag_commits; /* by how many the oldest snapshot is after; pages that were
                                  * freed since can't be used again. 0 without a snapshot */
};

struct store_backend; /* made by lmdb/lmdb.h or memory/memory.h, closed there */
struct store_txn; /* belongs to the thread that began it; held across no loop turn */

MUST_CHECK enum err store_begin(struct store_backend *backend, enum store_access access,
                                struct store_txn **ret_txn);
/* Ends a write transaction, durably; the transaction is gone whatever the result. */
MUST_CHECK enum err store_commit(struct store_txn *take_txn);
/* Ends any transaction without effect; accepts NULL. */
void store_abort(struct store_txn *take_txn);
/* Releases a read transaction's snapshot, keeping the transaction for store_renew. */
void store_reset(struct store_txn *txn);
MUST_CHECK enum err store_renew(struct store_txn *txn);

/* ERR_NOT_FOUND if there is no such key. */
MUST_CHECK enum err store_get(struct store_txn *txn, enum store_table table, struct slice key,
                              struct slice *ret_value);
/* Adds or replaces. */
MUST_CHECK enum err store_put(struct store_txn *txn, enum store_table table, struct slice key,
                              struct slice value);
/* The same for a key above all that have its first 16 bytes (appending is cheaper). */
MUST_CHECK enum err store_append(struct store_txn *txn, enum store_table table, struct slice key,
                                 struct slice value);
/* ERR_NOT_FOUND if there is no such key. */
MUST_CHECK enum err store_del(struct store_txn *txn, enum store_table table, struct slice key);
MUST_CHECK enum err store_stats(struct store_backend *backend, struct store_stats *ret_stats);

/* After a full disk: makes what it took (a reserve) again. OK if there is nothing to make or room
 * for it, ERR_DISK_FULL if there still is none. The writer asks before each probe, and after a
 * batch that met a full disk and fitted in parts. */
MUST_CHECK enum err store_restore(struct store_backend *backend);

/* A walk over the keys that begin with a prefix. The only cursor there is. In a write transaction a
 * put or del to the same table ends it: take what is needed first. */
struct store_cursor {
    struct store_txn *txn;
    enum store_table table;
    enum store_order order;
    uint8_t prefix[STORE_KEY_BYTES_MAX];
    size_t prefix_bytes;
    uint8_t from[STORE_KEY_BYTES_MAX];
    size_t from_bytes;
    bool started;
    uint32_t changes; /* of the table, when the cursor was made: one more ends it */
    void *handle; /* the back end's own */
};

/* Starts at the first key (in the order) that is not before `from`; an empty `from` is the prefix's
 * own end. `from` begins with `prefix`; `prefix` has at least 16 bytes. Both are copied. */
MUST_CHECK enum err store_cursor_init(struct store_cursor *cursor, struct store_txn *txn,
                                      enum store_table table, struct slice prefix,
                                      struct slice from, enum store_order order);
/* ERR_NOT_FOUND at the end of the prefix. */
MUST_CHECK enum err store_cursor_next(struct store_cursor *cursor, struct slice *ret_key,
                                      struct slice *ret_value);
/* Takes a zeroed cursor too. */
void store_cursor_deinit(struct store_cursor *cursor);

/* The first organisation after `after` (NULL: of all) that has a key in this table; the zero one,
 * under which is what belongs to none, comes first. For what goes over a whole store. ERR_NOT_FOUND
 * after the last. */
MUST_CHECK enum err store_next_org(struct store_txn *txn, enum store_table table,
                                   const struct uuid *after, struct uuid *ret_org);

#endif
