/*
 * fault_store.c: counts every call, asks whether it fails, and passes it on. A commit that fails
 * aborts the transaction, as a back end does. As in LMDB, a write transaction in which a change
 * failed can only be aborted: its later changes and its commit fail, too.
 */
#include "tests/support/store/fault_store.h"

#include <stdlib.h>

struct fault_txn {
    struct store_txn txn; /* first */
    struct fault_store *store;
    struct store_txn *inner;
    enum err broken; /* error of an earlier failed change */
};

struct fault_cursor {
    struct fault_txn *txn;
    void *inner;
};

static struct fault_txn *fault_txn(struct store_txn *txn)
{
    return (struct fault_txn *)txn;
}

static const struct store_backend_ops *inner_ops(const struct fault_txn *txn)
{
    return txn->store->inner->ops;
}

/* The error that this call is to fail with, or OK. */
static enum err ask(struct fault_store *store, enum fault_call call)
{
    struct fault_plan *plan = &store->plans[call];

    plan->calls++;
    if (plan->first != 0 && plan->calls >= plan->first && plan->calls - plan->first < plan->count) {
        return plan->err;
    }
    return OK;
}

static enum err fault_begin(struct store_backend *backend, enum store_access access,
                            struct store_txn **ret_txn)
{
    struct fault_store *store = (struct fault_store *)backend;
    struct fault_txn *txn = NULL;
    enum err err = access == STORE_WRITE ? ask(store, FAULT_BEGIN) : OK;

    if (err != OK) {
        return err;
    }
    txn = calloc(1, sizeof(*txn));
    if (txn == NULL) {
        return ERR_MEMORY;
    }
    txn->store = store;
    err = store_begin(store->inner, access, &txn->inner);
    if (err != OK) {
        free(txn);
        return err;
    }
    *ret_txn = &txn->txn;
    return OK;
}

static void fault_abort(struct store_txn *take_txn)
{
    store_abort(fault_txn(take_txn)->inner);
    free(take_txn);
}

static enum err fault_commit(struct store_txn *take_txn)
{
    struct fault_txn *txn = fault_txn(take_txn);
    enum err err = txn->broken != OK ? txn->broken : ask(txn->store, FAULT_COMMIT);

    if (err != OK) {
        fault_abort(take_txn);
        return err;
    }
    err = store_commit(txn->inner);
    free(txn);
    return err;
}

static void fault_reset(struct store_txn *txn)
{
    store_reset(fault_txn(txn)->inner);
}

static enum err fault_renew(struct store_txn *txn)
{
    return store_renew(fault_txn(txn)->inner);
}

static enum err fault_get(struct store_txn *txn, enum store_table table, struct slice key,
                          struct slice *ret_value)
{
    struct fault_txn *fault = fault_txn(txn);
    enum err err = ask(fault->store, FAULT_GET);

    return err != OK ? err : inner_ops(fault)->get(fault->inner, table, key, ret_value);
}

static enum err ask_change(struct fault_txn *txn)
{
    if (txn->broken == OK) {
        txn->broken = ask(txn->store, FAULT_CHANGE);
    }
    return txn->broken;
}

static enum err fault_put(struct store_txn *txn, enum store_table table, struct slice key,
                          struct slice value)
{
    struct fault_txn *fault = fault_txn(txn);
    enum err err = ask_change(fault);

    return err != OK ? err : inner_ops(fault)->put(fault->inner, table, key, value);
}

static enum err fault_append(struct store_txn *txn, enum store_table table, struct slice key,
                             struct slice value)
{
    struct fault_txn *fault = fault_txn(txn);
    enum err err = ask_change(fault);

    return err != OK ? err : inner_ops(fault)->append(fault->inner, table, key, value);
}

static enum err fault_del(struct store_txn *txn, enum store_table table, struct slice key)
{
    struct fault_txn *fault = fault_txn(txn);
    enum err err = ask_change(fault);

    return err != OK ? err : inner_ops(fault)->del(fault->inner, table, key);
}

static enum err fault_cursor_open(struct store_txn *txn, enum store_table table, void **ret_handle)
{
    struct fault_txn *fault = fault_txn(txn);
    struct fault_cursor *cursor = NULL;
    enum err err = ask(fault->store, FAULT_CURSOR);

    if (err != OK) {
        return err;
    }
    cursor = calloc(1, sizeof(*cursor));
    if (cursor == NULL) {
        return ERR_MEMORY;
    }
    cursor->txn = fault;
    err = inner_ops(fault)->cursor_open(fault->inner, table, &cursor->inner);
    if (err != OK) {
        free(cursor);
        return err;
    }
    *ret_handle = cursor;
    return OK;
}

static void fault_cursor_close(struct store_txn *txn, void *handle)
{
    struct fault_cursor *cursor = handle;

    (void)txn;
    inner_ops(cursor->txn)->cursor_close(cursor->txn->inner, cursor->inner);
    free(cursor);
}

static enum err fault_cursor_seek(void *handle, struct slice key, struct slice *ret_key,
                                  struct slice *ret_value)
{
    struct fault_cursor *cursor = handle;
    enum err err = ask(cursor->txn->store, FAULT_CURSOR);

    return err != OK ? err
                     : inner_ops(cursor->txn)->cursor_seek(cursor->inner, key, ret_key, ret_value);
}

static enum err fault_cursor_last(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct fault_cursor *cursor = handle;
    enum err err = ask(cursor->txn->store, FAULT_CURSOR);

    return err != OK ? err : inner_ops(cursor->txn)->cursor_last(cursor->inner, ret_key, ret_value);
}

static enum err fault_cursor_next(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct fault_cursor *cursor = handle;
    enum err err = ask(cursor->txn->store, FAULT_CURSOR);

    return err != OK ? err : inner_ops(cursor->txn)->cursor_next(cursor->inner, ret_key, ret_value);
}

static enum err fault_cursor_prev(void *handle, struct slice *ret_key, struct slice *ret_value)
{
    struct fault_cursor *cursor = handle;
    enum err err = ask(cursor->txn->store, FAULT_CURSOR);

    return err != OK ? err : inner_ops(cursor->txn)->cursor_prev(cursor->inner, ret_key, ret_value);
}

static enum err fault_stats(struct store_backend *backend, struct store_stats *ret_stats)
{
    return store_stats(((struct fault_store *)backend)->inner, ret_stats);
}

static enum err fault_restore(struct store_backend *backend)
{
    struct fault_store *store = (struct fault_store *)backend;
    enum err err = ask(store, FAULT_RESTORE);

    return err != OK ? err : store_restore(store->inner);
}

static const struct store_backend_ops fault_ops = {
    .begin = fault_begin,
    .commit = fault_commit,
    .abort = fault_abort,
    .reset = fault_reset,
    .renew = fault_renew,
    .get = fault_get,
    .put = fault_put,
    .append = fault_append,
    .del = fault_del,
    .cursor_open = fault_cursor_open,
    .cursor_close = fault_cursor_close,
    .cursor_seek = fault_cursor_seek,
    .cursor_last = fault_cursor_last,
    .cursor_next = fault_cursor_next,
    .cursor_prev = fault_cursor_prev,
    .stats = fault_stats,
    .restore = fault_restore,
};

void fault_store_init(struct fault_store *fault, struct store_backend *inner)
{
    memset(fault, 0, sizeof(*fault));
    fault->backend.ops = &fault_ops;
    fault->inner = inner;
}

void fault_store_plan(struct fault_store *fault, enum fault_call call, uint64_t skip,
                      uint64_t count, enum err err)
{
    fault->plans[call].first = fault->plans[call].calls + skip + 1;
    fault->plans[call].count = count;
    fault->plans[call].err = err;
}
