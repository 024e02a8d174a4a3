/*
 * log_engine.c: the interface of log_engine.h, and the engine that keeps the log in the tables.
 */
#include "store/log_engine.h"

#include "store/backend_ops.h"
#include "store/base/fault_point.h"

static enum err append_in_tables(const struct log_engine *engine, struct store_txn *txn,
                                 const struct log_range *ranges, size_t count)
{
    (void)engine;
    (void)txn;
    (void)ranges;
    (void)count;
    if (FAULT("log_engine.append")) {
        return ERR_IO;
    }
    return OK; /* the commit of the tables, which follows, makes them durable */
}

static enum err read_in_tables(const struct log_engine *engine, struct store_txn *txn,
                               struct org_id org, uint64_t seq, struct event *ret_event)
{
    (void)engine;
    return log_read(txn, org, seq, ret_event);
}

static enum err follow_in_tables(const struct log_engine *engine, struct store_txn *txn,
                                 struct log_range *ret_range)
{
    (void)engine;
    (void)txn;
    (void)ret_range;
    return ERR_NOT_FOUND; /* the process owns its tables: all events are appended by it */
}

static const struct log_engine_ops in_tables_ops = {
    .append = append_in_tables,
    .read = read_in_tables,
    .follow = follow_in_tables,
};

static const struct log_engine in_tables = {&in_tables_ops};

const struct log_engine *log_engine_in_tables(void)
{
    return &in_tables;
}

enum err log_engine_append(const struct log_engine *engine, struct store_txn *txn)
{
    return engine->ops->append(engine, txn, txn->log_ranges, txn->log_range_count);
}

enum err log_engine_read(const struct log_engine *engine, struct store_txn *txn, struct org_id org,
                         uint64_t seq, struct event *ret_event)
{
    return engine->ops->read(engine, txn, org, seq, ret_event);
}

enum err log_engine_follow(const struct log_engine *engine, struct store_txn *txn,
                           struct log_range *ret_range)
{
    return engine->ops->follow(engine, txn, ret_range);
}
