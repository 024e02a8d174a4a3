/*
 * backend_ops.h: what a back end implements, seen by back ends, by wrappers of them (fault
 * injection) and by the store's own files alone. backend.c checks bounds and rules once for all of
 * them; an implementation may rely on keys of 16 to STORE_KEY_BYTES_MAX bytes, values of at most
 * STORE_VALUE_BYTES_MAX, writes in write transactions alone, and reads between renew and reset.
 */
#ifndef ERRATA_STORE_BACKEND_OPS_H
#define ERRATA_STORE_BACKEND_OPS_H

#include "store/log_engine.h"

/* The first member of a back end's own struct. */
struct store_backend {
    const struct store_backend_ops *ops;
};

/* What log_begin_write left for the next append of this transaction. */
struct txn_log_write {
    uint32_t next_index; /* write_index of the next event */
    struct event_idempotency idempotency; /* the first event's */
};

/* The head of a log that a read transaction read last: its snapshot has no other. */
struct txn_log_head {
    bool is_known;
    struct org_id org;
    struct log_head head;
};

/* What idempotency_begin left for the keys of this transaction; zeroed: the wall clock judges them, and all
 * rows of hours to come count. */
struct txn_key_time {
    bool is_set;
    int64_t now_us;
    bool ahead_counts;
};

/* Organisations whose logs one transaction may append to: two for each request of a batch. */
#define TXN_LOG_RANGES_MAX 512

/* The first member of a back end's own struct; filled by store_begin, not by the back end. */
struct store_txn {
    struct store_backend *backend;
    enum store_access access;
    bool idle; /* reset: holds no snapshot */
    /* Puts and dels by table: they end cursors, and tell the writer what changed. */
    uint32_t changes[TABLE_COUNT];
    uint64_t change_count; /* their sum */
    struct txn_log_write log_write;
    struct txn_key_time key_time;
    struct txn_log_head log_head; /* never known in a write transaction */
    /* What this transaction appended, for the log's engine. */
    struct log_range log_ranges[TXN_LOG_RANGES_MAX];
    size_t log_range_count;
    int64_t newest_recorded_at_us; /* of what it appended; 0: nothing */
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
    /* A cursor knows no prefix; each move gives the row it lands on, or ERR_NOT_FOUND. */
    enum err (*cursor_open)(struct store_txn *txn, enum store_table table, void **ret_handle);
    void (*cursor_close)(struct store_txn *txn, void *handle);
    /* To the first key at or after `key`. */
    enum err (*cursor_seek)(void *handle, struct slice key, struct slice *ret_key,
                            struct slice *ret_value);
    enum err (*cursor_last)(void *handle, struct slice *ret_key, struct slice *ret_value);
    enum err (*cursor_next)(void *handle, struct slice *ret_key, struct slice *ret_value);
    enum err (*cursor_prev)(void *handle, struct slice *ret_key, struct slice *ret_value);
    enum err (*stats)(struct store_backend *backend, struct store_stats *ret_stats);
    /* Makes what a full disk took (a reserve) again; OK if there is nothing to make. */
    enum err (*restore)(struct store_backend *backend);
};

#endif
