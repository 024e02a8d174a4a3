/*
 * log_engine.h: makes the log durable. A write batch decides and applies in a transaction over the
 * tables that is not committed yet; then the engine makes the batch's events durable; then the
 * tables commit. Another engine (segment files, a database) may keep the log outside the tables and
 * add events of other nodes; the first engine keeps the log in the tables.
 */
#ifndef ERRATA_STORE_LOG_ENGINE_H
#define ERRATA_STORE_LOG_ENGINE_H

#include "store/log.h"

/* A run of events in one organisation's log. */
struct log_range {
    struct org_id org;
    uint64_t first_seq;
    uint64_t count;
};

struct log_engine;

struct log_engine_ops {
    enum err (*append)(const struct log_engine *engine, struct store_txn *txn,
                       const struct log_range *ranges, size_t count);
    enum err (*read)(const struct log_engine *engine, struct store_txn *txn, struct org_id org,
                     uint64_t seq, struct event *ret_event);
    enum err (*follow)(const struct log_engine *engine, struct store_txn *txn,
                       struct log_range *ret_range);
};

struct log_engine {
    const struct log_engine_ops *ops;
};

/* The engine with the log in the tables' transaction: the commit that follows makes it durable, and
 * there are no other writers. */
const struct log_engine *log_engine_in_tables(void);

/* Makes the transaction's events durable. ERR_EXISTS: another node took one of the numbers; the
 * batch must be aborted, catch up and decide again. Call once, right before the commit. */
MUST_CHECK enum err log_engine_append(const struct log_engine *engine, struct store_txn *txn);
/* Reads one event from the engine. ERR_NOT_FOUND if it has none. */
MUST_CHECK enum err log_engine_read(const struct log_engine *engine, struct store_txn *txn,
                                    struct org_id org, uint64_t seq, struct event *ret_event);
/* Returns the next events that the engine has and the tables do not. ERR_NOT_FOUND: the tables have
 * all. */
MUST_CHECK enum err log_engine_follow(const struct log_engine *engine, struct store_txn *txn,
                                      struct log_range *ret_range);

#endif
