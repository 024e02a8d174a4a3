/*
 * log_engine.h: where the log is made durable. A write batch decides and applies in a transaction
 * over the tables that is not committed yet; then the engine makes the batch's events durable; then
 * the tables commit. An engine of another kind (segment files, a database) keeps the log outside the
 * tables and brings in what other nodes wrote; the first engine keeps it in the tables themselves.
 */
#ifndef ERRATA_STORE_LOG_ENGINE_H
#define ERRATA_STORE_LOG_ENGINE_H

#include "store/log.h"

/* Events that are one after the other in one organisation's log. */
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

/* The log in the tables' own transaction: appending has nothing more to make durable than the
 * commit that follows, and no one else writes. */
const struct log_engine *log_engine_in_tables(void);

/* Makes durable what the transaction appended. ERR_EXISTS: another node took one of the numbers; the
 * batch must be thrown away, catch up and decide again. Once, right before the commit. */
MUST_CHECK enum err log_engine_append(const struct log_engine *engine, struct store_txn *txn);
/* One event as the engine has it. ERR_NOT_FOUND if it has none. */
MUST_CHECK enum err log_engine_read(const struct log_engine *engine, struct store_txn *txn,
                                    struct org_id org, uint64_t seq, struct event *ret_event);
/* The next events that the engine has and the tables do not. ERR_NOT_FOUND: the tables have all. */
MUST_CHECK enum err log_engine_follow(const struct log_engine *engine, struct store_txn *txn,
                                      struct log_range *ret_range);

#endif
