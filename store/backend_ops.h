/*
 * backend_ops.h: the functions that a back end implements; for back ends, wrappers of them (fault
 * injection) and the store's own files. backend.c checks limits and rules once for all; an
 * implementation may rely on keys of 16 to STORE_KEY_BYTES_MAX bytes, values of at most
 * STORE_VALUE_BYTES_MAX, writes only in write transactions, and reads between renew and reset.
 */
#ifndef ERRATA_STORE_BACKEND_OPS_H
#define ERRATA_STORE_BACKEND_OPS_H

#include "store/log_engine.h"

/* The first member of a back end's struct. */
struct store_backend {
    const struct store_backend_ops *ops;
};

/* State of log_begin_write for the next append of this transaction. */
struct txn_log_write {
    uint32_t next_index; /* write_index of the next event */
    struct event_idempotency idempotency; /* key of the first event */
};

/* The head of the log that a read transaction last read: constant within its snapshot. */
struct txn_log_head {
    bool is_known;
    struct org_id org;
    struct log_head head;
};

/* State of idempotency_begin for the keys of this transaction; if zeroed, keys are judged by the
 * wall clock, and rows of all future hours count. */
struct txn_key_time {
    bool is_set;
    int64_t now_us;
    bool ahead_counts;
};

/* Maximum organisations to whose logs one transaction may append: two for each request of a
 * batch. */
#define TXN_LOG_RANGES_MAX 512

/* Limit of the memory for events that one transaction reads: a list reads at most 2,000, and few have more than a
 * kilobyte of envelope and facts. */
#define TXN_UNPACKED_BYTES_MAX ((size_t)256 << 20)

/* The first member of a back end's struct; filled by store_begin, not by the back end. */
struct store_txn {
    struct store_backend *backend;
    enum store_access access;
    bool idle; /* reset: has no snapshot */
    /* Puts and dels by table: they invalidate cursors, and report the changed tables to the
     * writer. */
    uint32_t changes[TABLE_COUNT];
    uint64_t change_count; /* sum of the tables' counters */
    struct txn_log_write log_write;
    struct txn_key_time key_time;
    struct txn_log_head log_head; /* unset in a write transaction */
    struct arena unpacked; /* memory of decoded events; emptied with the snapshot */
    /* Appended by this transaction, for the log engine. */
    struct log_range log_ranges[TXN_LOG_RANGES_MAX];
    size_t log_range_count;
    int64_t newest_recorded_at_us; /* newest time of the appended events; 0: none */
};

struct store_backend_ops {
    enum err (*begin)(struct store_backend *backend, enum store_access access,
                      struct store_txn **ret_txn);
    enum err (*commit)(struct store_txn *take_txn);
    void (*abort)(struct store_txn *take_txn);
    void (*reset)(struct store_txn *txn);
    enum err (*renew)(struct store_txn *txn);
    enum err (*get)(struct store_txn *txn, enum store_table table, struct slice key,
                    struct slice *ret_value);
    enum err (*put)(struct store_txn *txn, enum store_table table, struct slice key,
                    struct slice value);
    enum err (*append)(struct store_txn *txn, enum store_table table, struct slice key,
                       struct slice value);
    enum err (*del)(struct store_txn *txn, enum store_table table, struct slice key);
    /* The back end's cursor has no prefix; each move returns the row it is on, or ERR_NOT_FOUND. */
    enum err (*cursor_open)(struct store_txn *txn, enum store_table table, void **ret_handle);
    void (*cursor_close)(struct store_txn *txn, void *handle);
    /* Moves to the first key at or after `key`. */
    enum err (*cursor_seek)(void *handle, struct slice key, struct slice *ret_key,
                            struct slice *ret_value);
    enum err (*cursor_last)(void *handle, struct slice *ret_key, struct slice *ret_value);
    enum err (*cursor_next)(void *handle, struct slice *ret_key, struct slice *ret_value);
    enum err (*cursor_prev)(void *handle, struct slice *ret_key, struct slice *ret_value);
    enum err (*stats)(struct store_backend *backend, struct store_stats *ret_stats);
    /* Recreates the reserve that was released when the disk was full; OK if it exists. */
    enum err (*restore)(struct store_backend *backend);
};

#endif
