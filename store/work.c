/*
 * work.c: one unit of work: runs the write of a request, or finds the earlier write with its
 * idempotency key.
 */
#include "store/work.h"

#include "store/base/assert.h"

/* Runs the request, and stores its key with the events that it appended. */
static enum err run_with_key(struct work_request *request, struct store_txn *txn)
{
    struct ctx *ctx = request->ctx;
    enum err err = idempotency_find(ctx, txn, &request->key, &request->written);

    if (err == ERR_EXISTS) {
        return fault_say(ctx->fault, err,
                         "idempotency-key: used for a different request within the last 24 "
                         "hours; expected the same request, or a new key");
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    log_begin_write(txn, &request->key);
    err = request->run(request, txn);
    if (err != OK) {
        return err;
    }
    return idempotency_keep(ctx, txn, &request->key, &request->written);
}

static enum err run_and_answer(struct work_request *request, struct store_txn *txn)
{
    enum err err = OK;

    if (request->key.present) {
        err = run_with_key(request, txn);
    } else {
        log_begin_write(txn, NULL);
        err = request->run(request, txn);
    }
    if (err != OK || request->answer == NULL) {
        return err;
    }
    return request->answer(request, txn);
}

enum err work_run(struct work_request *request, struct store_txn *txn)
{
    struct ctx *ctx = request->ctx;

    ASSERT(ctx != NULL || !request->key.present);
    if (ctx != NULL) {
        arena_reset(ctx->arena);
        fault_init(ctx->fault, ctx->arena);
    }
    request->written = (struct work_result){.org = request->org};
    request->decided = run_and_answer(request, txn);
    return request->decided;
}
